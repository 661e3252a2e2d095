/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instructions of a function as text. Each disassembler is one row of the table in code.c.
 * Test: tests/unit/code/test_disassemble.c.
 */
#ifndef HPCPROF_LITE_CODE_DISASSEMBLE_H
#define HPCPROF_LITE_CODE_DISASSEMBLE_H

#include "hpcprof-lite/code/code_binary.h"
#include "hpcprof-lite/code/code_hot.h"

#include <limits.h>

struct disassembly {
	/* in */
	const struct code_binary *binary;
	const struct code_hot *hot;
	const char *copy; /* a private copy of the binary, for tools */
	const char *tool; /* its path; NULL: the disassembler is a library */
	int64_t *left_ms; /* the time that the tool has: see code_tool_run() */
	struct strtab *strings;
	/* out, ascending */
	VEC(struct code_instruction) lines; /* address and text */
	bool failed;                        /* memory is short */
	bool is_refused;                    /* the tool failed: other functions have no chance */
};

struct disassembler {
	const char *tool; /* name of the program that it runs; NULL: a library */
	bool is_cuda;     /* as in code_tool_find() */
	/* what people install if it is not there */
	const char *missing;
	/* It knows this machine. */
	bool (*can)(const struct code_binary *b);
	/* Appends the instructions. False: there are none. */
	bool (*read)(struct disassembly *d);
};

/* zydis: its functions are NULL if the program was built without it. */
extern const struct disassembler disassemble_zydis, disassemble_objdump,
	disassemble_objdump_aarch64, disassemble_nvdisasm;

/* Appends an instruction. Blanks in a row become one. */
void disassemble_add(struct disassembly *d, uint64_t link_addr, const char *text, size_t n);
/* The next line of some text: [*at, end). Returns false at the end. */
bool disassemble_next_line(const char **at, const char **end);

/*
 * Reads what nvdisasm prints: the instructions of `d->hot` in a section of the file that begins at
 * offset `first`.
 */
void disassemble_read_nvdisasm(struct disassembly *d, const char *text, const char *section,
			       uint64_t first);

#endif
