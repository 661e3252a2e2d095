/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The isa room: bytes of code -> what each instruction does to the flow of control, and nothing else. One table of operations for each machine. Pure functions on
 * bytes: any bytes are safe, no allocation. Tests: tests/unit/test_isa.c, tests/fuzz/fuzz_flow.c.
 */
#ifndef HPCSTRUCT_ISA_ISA_H
#define HPCSTRUCT_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa_kind {
	ISA_PLAIN,    /* goes on with the next instruction */
	ISA_JUMP,     /* goes to its target */
	ISA_INDIRECT, /* jumps to where a register or memory says */
	ISA_CALL,     /* comes back to the next instruction, unless what it calls never does */
	ISA_RETURN,
	ISA_EXIT,     /* ends the thread, or traps: nothing follows */
	ISA_INVALID   /* no instruction */
};

struct isa_instruction {
	uint8_t kind;          /* enum isa_kind */
	uint8_t n_bytes;       /* 1 or more, never beyond the end of the bytes given */
	bool is_conditional;   /* not taken, it goes on with the next instruction */
	bool has_target;       /* JUMP always; CALL when it is direct */
	uint64_t target;       /* link address */
};

/* Where an indirect jump of a switch statement finds its targets: a table in memory. */
struct isa_table {
	uint64_t jump;         /* link address of the jump */
	uint64_t base;         /* of the table */
	uint32_t n_entries;    /* 0: no bound was found */
	uint8_t entry_bytes;   /* 4: signed distances from `base`; 8: link addresses */
};

struct isa {
	const char *name;
	/* Decodes the instruction at bytes[0]; n_bytes > 0. */
	void (*decode)(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr, struct isa_instruction *out);
	/*
	 * Calls found() for each indirect jump in the bytes, taken as a run of instructions from the first on, whose table it recognises; stops when that says false. NULL: tables of this machine
	 * are not recognised.
	 */
	void (*find_tables)(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr, bool (*found)(void *arg, const struct isa_table *table), void *arg);
};

/*
 * By ELF machine (EM_*) and, for EM_CUDA, the number of the architecture (90 for sm_90); 0 for others. NULL when the machine is not known, or its decoder was not built
 * in.
 */
const struct isa *isa_find(uint16_t machine, unsigned architecture);

/* Without operations where Zydis was not there to build it. */
extern const struct isa isa_x86;
/* NVIDIA's 128-bit encoding: sm_70 to sm_89, and sm_90 and later. */
extern const struct isa isa_sass_70, isa_sass_90;

#endif
