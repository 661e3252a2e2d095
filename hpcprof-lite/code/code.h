/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine code of the hottest functions of a run, as text: instructions with their lines, for
 * the page. Zydis decodes host code of x86-64, objdump that of other machines, nvdisasm SASS. Tools
 * get a private copy of the binary, and a time limit. Binaries are those that ran (same build id),
 * under the rules of rights.h. Tests: tests/cli/sink/sink_code.sh,
 * tests/unit/code/test_disassemble.c.
 */
#ifndef HPCPROF_LITE_CODE_CODE_H
#define HPCPROF_LITE_CODE_CODE_H

#include "common/base/strtab.h"
#include "hpcprof-lite/model/model.h"

struct code_instruction {
	uint64_t link_addr;
	uint32_t text;       /* of code.strings */
	uint32_t file, line; /* of the model; MODEL_NONE, 0: unknown */
	uint32_t inlined;    /* the function that was inlined there; 0: none */
	bool is_apart;       /* instructions before it are left out, or it begins a part */
	uint32_t n_samples;  /* of model.instructions: one for each metric */
	size_t first_sample;
};

struct code_function {
	uint32_t module;
	uint32_t function; /* of the model; MODEL_NONE: only inlined parts of it have samples */
	uint32_t name;     /* of code.strings */
	double share;      /* of the samples in instructions: the largest over the metrics */
	/* in code.instructions, ascending, with all addresses that have samples */
	size_t first, n;
};

struct code {
	VEC(struct code_function) functions; /* by falling share */
	VEC(struct code_instruction) instructions;
	VEC(uint32_t) missing; /* sentences for people, each once */
	struct strtab strings; /* string 0 is "" */
	bool is_private;       /* a binary is not for everyone */
};

struct code_options {
	const char *directory;    /* readable only for us; for copies that tools read */
	char *const *directories; /* measurements, which may have copies of binaries */
	size_t n_directories;
};

/* Fills *c, which is zero. Needs model.instructions. False if memory is short. Logs nothing. */
bool code_make(const struct model *m, const struct code_options *o, struct code *c);
void code_free(struct code *c);

#endif
