/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread-local variable in which CPython 3.15 and later keep the state of a thread. It has no
 * symbol; PyGILState_GetThisThreadState() loads it and does nothing else, so its code says where
 * the variable is. It is not called, because __tls_get_addr() may allocate. Linux on x86-64 with
 * glibc. Signal-safe. Test: tests/unit/run/test_python.c.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_TLS_H
#define HPCRUN_LITE_PYTHON_PYTHON_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_tls {
	uint64_t module; /* the loader's number of the object; 0: from the thread pointer */
	uint64_t offset;
};

/*
 * `code`: n bytes of the function, which is at the address `at`. Returns false if it is not one of
 * the known ways to load a thread-local variable.
 */
bool python_tls_decode(const uint8_t *code, size_t n, uintptr_t at, struct python_tls *tls);

/*
 * The address of the calling thread's variable; 0: the thread has none yet. If the thread was
 * interrupted in the loader, the address may be wrong; then only guarded loads are safe.
 */
uintptr_t python_tls_place(const struct python_tls *tls);

#endif
