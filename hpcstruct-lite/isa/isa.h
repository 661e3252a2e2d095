/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The isa room decodes instructions and says only what each does to the flow of control. Each
 * machine has one table of operations. Pure functions on bytes: any bytes are safe, and nothing is
 * allocated. Tests: tests/unit/struct/test_isa.c, tests/fuzz/fuzz_flow.c.
 */
#ifndef HPCSTRUCT_ISA_ISA_H
#define HPCSTRUCT_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa_kind {
	ISA_PLAIN,    /* continues with the next instruction */
	ISA_JUMP,     /* continues at its target */
	ISA_INDIRECT, /* jumps to an address in a register or in memory */
	ISA_CALL,     /* returns to the next instruction, unless the callee never returns */
	ISA_RETURN,
	ISA_EXIT,     /* ends the thread or traps: nothing follows */
	ISA_INVALID   /* not an instruction */
};

struct isa_instruction {
	uint8_t kind;          /* enum isa_kind */
	uint8_t n_bytes;       /* at least 1; never beyond the end of the given bytes */
	bool is_conditional;   /* if not taken, continues with the next instruction */
	bool has_target;       /* always for ISA_JUMP; for ISA_CALL if direct */
	uint64_t target;       /* link address */
};

/* The table in memory that holds the targets of an indirect jump of a switch statement. */
struct isa_table {
	uint64_t jump;         /* link address of the jump */
	uint64_t base;         /* link address of the table */
	uint64_t origin;       /* distances count from here; not used if entries are addresses */
	uint32_t n_entries;    /* 0: no bound found */
	uint8_t entry_bytes;   /* 1, 2, 4: distances from `origin`; 8: link addresses */
	uint8_t shift;         /* a distance is an entry times 2^shift */
	bool is_signed;        /* distances are */
};

struct isa {
	const char *name;
	bool has_waits;        /* instructions say what they wait for, as sass.h decodes it */
	uint8_t n_bytes;       /* of each instruction, which starts at a multiple; 0: varies */
	/* Decodes the instruction at bytes[0]. n_bytes must not be 0. */
	void (*decode)(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		struct isa_instruction *out);
	/*
	 * Finds the jump tables of indirect jumps. Decodes the bytes as a run of instructions from
	 * the first one, and calls found() for each table that it recognises. Stops if found()
	 * returns false. NULL: not supported on this machine.
	 */
	void (*find_tables)(const uint8_t *bytes, size_t n_bytes, uint64_t link_addr,
		bool (*found)(void *arg, const struct isa_table *table), void *arg);
};

/*
 * Finds the instruction set by ELF machine (EM_*). For EM_CUDA, `architecture` is the number of the
 * architecture (90 for sm_90); else 0. Returns NULL if the machine is unknown or its decoder was
 * not built in.
 */
const struct isa *isa_find(uint16_t machine, unsigned architecture);

/* Has no operations if it was built without Zydis. */
extern const struct isa isa_x86;
extern const struct isa isa_aarch64;
/* NVIDIA's 128-bit encoding: sm_70 to sm_89, and sm_90 and later. */
extern const struct isa isa_sass_70, isa_sass_90;

#endif
