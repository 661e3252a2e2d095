/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes structure files from calls that say what a binary holds, for tests of what reads them.
 * Ends the program when memory or disk are short. Add functions and their inner scopes in preorder
 * and by rising entry, intervals by rising address. Checked by tests/unit/prof/test_expand.c.
 */
#ifndef TESTS_GEN_GEN_STRUCTURE_H
#define TESTS_GEN_GEN_STRUCTURE_H

#include "common/format/structure.h"

struct gen_structure;

/* build_id may be NULL with 0 bytes; then file_bytes tells the binary, as in gen_module(). */
struct gen_structure *gen_structure_new(const char *binary, const uint8_t *build_id,
					size_t build_id_bytes);
uint32_t gen_structure_file(struct gen_structure *s, const char *path);
/* file STRUCTURE_NONE and line 0: unknown. */
uint32_t gen_structure_definition(struct gen_structure *s, const char *name, uint32_t file,
				  uint32_t line);
uint32_t gen_structure_function(struct gen_structure *s, uint32_t definition, uint64_t entry);
uint32_t gen_structure_inline(struct gen_structure *s, uint32_t parent, uint32_t definition,
			      uint32_t call_file, uint32_t call_line, uint64_t entry);
uint32_t gen_structure_loop(struct gen_structure *s, uint32_t parent, uint32_t file, uint32_t line,
			    uint64_t entry);
/* Code of `scope` from `start` to the start of the next interval; an interval with scope and file
 * STRUCTURE_NONE is a gap and must come last. */
void gen_structure_interval(struct gen_structure *s, uint64_t start, uint32_t scope, uint32_t file,
			    uint32_t line);
/* A call instruction at `at` in an interval, to a function scope. By rising address. */
void gen_structure_call(struct gen_structure *s, uint64_t at, uint32_t target);
/* The instruction at `at` waits; gen_structure_cause() adds its causes. By rising address. */
void gen_structure_wait(struct gen_structure *s, uint64_t at);
/* is_used and is_carried of `c` say whether the flags are set. */
void gen_structure_cause(struct gen_structure *s, const struct structure_cause *c);
/* The function is a kernel: it is launched, not called. In the order of scopes. */
void gen_structure_kernel(struct gen_structure *s, uint32_t function);
/* Writes <directory>/structs/<key>.hpcstruct and frees s. Returns the path, owned by the caller
 * (free). */
char *gen_structure_close(struct gen_structure *s, const char *directory);

#endif
