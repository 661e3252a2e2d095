/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes, for NVIDIA's 128-bit encoding (sm_70 and later), what an instruction waits for and what
 * other instructions can wait for. The scheduling bits were published by Z. Jia et al., "Dissecting
 * the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018). doc/dependencies.md explains
 * them. Pure functions on bytes: any bytes are safe. Test: tests/unit/struct/test_depend.c.
 */
#ifndef HPCSTRUCT_ISA_SASS_H
#define HPCSTRUCT_ISA_SASS_H

#include "common/format/structure.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	SASS_BYTES = 16,
	SASS_N_BARRIERS = 7, /* 0 to 5: scoreboards; 6: Hopper's asynchronous matrix operations */
	SASS_MATRIX_BARRIER = 6,
	SASS_MAX_READS = 8,
	SASS_MAX_WRITES = 4
};

/*
 * Numbers of registers: R0 and so on, then a warp's registers (UR), predicates (P), and a warp's
 * predicates (UP).
 */
enum { SASS_R = 0, SASS_UR = 256, SASS_P = 512, SASS_UP = 520, SASS_N_REGISTERS = 528 };

struct sass_registers {
	uint16_t first;
	uint8_t n;
};

struct sass_instruction {
	uint8_t operation; /* enum structure_operation */
	uint8_t bytes; /* of data that a load or store moves for a thread; 0: not a load or store */
	uint8_t stall;     /* cycles until the next instruction of the warp can be issued */
	/* sets of barriers, bit i for barrier i */
	uint8_t results;  /* released when the results are written */
	uint8_t operands; /* released when the operands have been read */
	uint8_t waits;    /* released before the instruction is issued */
	/*
	 * DEPBAR.LE: this many later users of the barrier may still hold it; 0 for all other waits
	 */
	uint8_t still_out;
	/*
	 * BSSY: bytes from the next instruction to where threads that take different paths are
	 * together again, behind the BSYNC; 0: another instruction
	 */
	uint32_t joins_after;
	bool is_async_group; /* LDGDEPBAR: holds a barrier for the asynchronous copies before it */
	bool is_async_copy;  /* an asynchronous copy, which belongs to a group */
	bool is_conditional; /* a predicate decides whether it has an effect */
	bool joins_warps;    /* waits for other warps, or for the other threads of this one */
	uint8_t n_reads, n_writes;
	struct sass_registers reads[SASS_MAX_READS], writes[SASS_MAX_WRITES];
};

/* Decodes the SASS_BYTES at `bytes`. Registers of unknown operations are not listed. */
void sass_decode(const uint8_t *bytes, struct sass_instruction *out);

/* Returns true if the two lists have a register in common. */
bool sass_overlap(const struct sass_registers *a, unsigned n_a, const struct sass_registers *b,
		  unsigned n_b);

/* An operation of the table, by the low nine bits of the instruction. */
struct sass_operation {
	uint16_t code;
	uint8_t operation; /* enum structure_operation */
	uint8_t width;     /* enum sass_width */
	uint16_t operands; /* SASS_OPERAND_* */
};

/* How many registers an operand has. */
enum sass_width {
	SASS_SINGLE,
	SASS_DOUBLE,  /* two each */
	SASS_WIDE,    /* two in the result and the last operand */
	SASS_MEMORY,  /* data: as bits 73 to 75 say; 64-bit addresses: two */
	SASS_CONVERT, /* up to two each */
	SASS_MATRIX,  /* a matrix: up to four */
	SASS_CLOCK,   /* two, or one if bit 80 is clear */
	SASS_QUAD     /* results of up to four */
};

#define SASS_OPERAND_D 1u      /* result, bits 16 to 23 */
#define SASS_OPERAND_A 2u      /* bits 24 to 31 */
#define SASS_OPERAND_B 4u      /* bits 32 to 39, in forms that have a register there */
#define SASS_OPERAND_C 8u      /* bits 64 to 71 */
#define SASS_OPERAND_DATA 16u  /* what a store writes, bits 32 to 39 */
#define SASS_OPERAND_D2 32u    /* a second result, bits 64 to 71 */
#define SASS_OPERAND_P 64u     /* a predicate as a result, bits 81 to 83 */
#define SASS_OPERAND_Q 128u    /* a predicate that is read, bits 87 to 89 */
#define SASS_OPERAND_UD 256u   /* the result is a register of the warp */
#define SASS_OPERAND_U 512u    /* all registers are those of the warp */
#define SASS_OPERAND_UB 1024u  /* memory: a register of the warp, bits 32 to 39 */
#define SASS_OPERAND_UC 2048u  /* memory: ... bits 64 to 71 */
#define SASS_OPERAND_UA 8192u  /* a register of the warp, bits 24 to 29 */
#define SASS_OPERAND_P2 4096u  /* a second predicate as a result, bits 84 to 86 */
#define SASS_OPERAND_TO 16384u /* an address that is written to, bits 16 to 23 */

/* Returns NULL if the operation is unknown. */
const struct sass_operation *sass_find_operation(uint32_t code);

#endif
