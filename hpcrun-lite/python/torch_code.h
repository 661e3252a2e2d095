/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of PyTorch that call modules (Module._call_impl): the numbers and the addresses of
 * their code objects. There are two or three. Signal-safe. Test:
 * tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_TORCH_CODE_H
#define HPCRUN_LITE_PYTHON_TORCH_CODE_H

#include "hpcrun-lite/python/layout.h"

/* Returns true for the code of a function that calls a module's forward(). */
bool torch_code_calls_modules(const char *file, const char *function);
void torch_code_add_number(uint32_t number);
bool torch_code_has_number(uint32_t number);
/* The code object of such a function, and the version that CPython 3.12 and later give it. */
void torch_code_add_place(uintptr_t code, uint64_t version);
/*
 * Returns true if the code object of such a function is at `code`. Always false before 3.12. Reads
 * directly.
 */
bool torch_code_is_call(const struct python_layout *l, uintptr_t code);
/* How many places there were so far. */
uint32_t torch_code_count(void);
/* Call in the child of fork. */
void torch_code_forget(void);

#endif
