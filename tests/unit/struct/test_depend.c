/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcstruct-lite/depend and isa/sass.c: small functions made of instruction words whose
 * causes are plain to see, random functions against a search without summaries, and a bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcstruct-lite/depend/depend.h"
#include "hpcstruct-lite/isa/isa.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	NONE = 7,
	LDG = 0x981,
	STG = 0x986,
	LDS = 0x984,
	MUFU = 0x308,
	FADD = 0x221,
	ISETP = 0x20c,
	BRA = 0x947,
	BSYNC = 0x941,
	BSSY = 0x945,
	EXIT = 0x94d,
	BAR = 0xb1d,
	CALL = 0x944,
	DEPBAR = 0x91a,
	LDGSTS = 0xfae,
	LDGDEPBAR = 0x9af,
	NOP = 0x918,
	ZERO = 255
};

/* An instruction: `d` result, `a` and `b` operands; for BRA and BSSY, `d` is the target's number.
 */
struct line {
	unsigned code, d, a, b;
	unsigned stall, result, operand, waits;
	bool is_conditional;
};

struct function {
	uint8_t *bytes;
	uint32_t n;
	struct flow flow;
	struct depend *depend;
	struct depend_causes causes;
	struct depend_counts counts;
};

static void put(uint8_t *to, uint64_t word)
{
	for (int i = 0; i < 8; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

static void encode(const struct line *l, uint32_t i, uint8_t *to)
{
	uint64_t low = l->code, high = (uint64_t)l->stall << 41 | (uint64_t)l->result << 46 |
				       (uint64_t)l->operand << 49 | (uint64_t)l->waits << 52;
	low |= (uint64_t)(l->is_conditional ? 0 : 7) << 12;
	if (l->code == BRA || l->code == BSSY) {
		int64_t distance = ((int64_t)l->d - i - 1) * 16 / 4;
		low |= (uint64_t)distance << 34;
		high |= ((uint64_t)distance >> 30 & 0x3ffff) | UINT64_C(7) << 23;
	} else if (l->code == DEPBAR) {
		low |= UINT64_C(1) << 47 | (uint64_t)l->a << 44 | (uint64_t)l->b << 38;
	} else {
		low |= (uint64_t)l->d << 16 | (uint64_t)l->a << 24 | (uint64_t)l->b << 32;
		high |= ZERO | UINT64_C(4) << 9 | UINT64_C(7) << 17 | UINT64_C(7) << 23;
	}
	put(to, low);
	put(to + 8, high);
}

static const uint8_t *bytes_at(void *arg, uint32_t position)
{
	return (const uint8_t *)arg + position;
}

static void build(struct function *f, const struct line *lines, uint32_t n)
{
	VEC(struct flow_transfer) transfers = {0};
	const struct isa *isa = isa_find(EM_CUDA, 80);
	memset(f, 0, sizeof *f);
	f->n = n;
	f->bytes = malloc((size_t)n * SASS_BYTES);
	assert_non_null(f->bytes);
	for (uint32_t i = 0; i < n; i++) {
		struct isa_instruction k;
		encode(&lines[i], i, f->bytes + (size_t)i * SASS_BYTES);
		isa->decode(f->bytes + (size_t)i * SASS_BYTES, SASS_BYTES, i * SASS_BYTES, &k);
		if (k.kind == ISA_PLAIN)
			continue;
		struct flow_transfer *t = vec_push(&transfers);
		assert_non_null(t);
		*t = (struct flow_transfer){i * SASS_BYTES,
					    (i + 1) * SASS_BYTES,
					    k.has_target ? (uint32_t)k.target : FLOW_NONE,
					    k.kind,
					    k.is_conditional,
					    false};
	}
	struct flow_range range = {0, n * SASS_BYTES};
	struct flow_code code = {.ranges = &range,
				 .n_ranges = 1,
				 .transfers = transfers.at,
				 .n_transfers = transfers.n,
				 .with_unreached = true};
	assert_true(flow_build(&f->flow, &code) && flow_find_loops(&f->flow, &code));
	f->depend = depend_new();
	assert_non_null(f->depend);
	assert_true(depend_find(f->depend, &f->flow, bytes_at, f->bytes, &f->causes, &f->counts));
	vec_free(&transfers);
}

static void release(struct function *f)
{
	free(f->bytes);
	flow_free(&f->flow);
	depend_free(f->depend);
	vec_free(&f->causes);
}

/* The k-th cause of the wait at a line, NULL: there are fewer. */
static const struct depend_cause *cause(const struct function *f, uint32_t wait, unsigned k)
{
	for (size_t i = 0; i < f->causes.n; i++)
		if (f->causes.at[i].wait == wait * SASS_BYTES && k-- == 0)
			return &f->causes.at[i];
	return NULL;
}

static void check(const struct function *f, uint32_t wait, unsigned k, uint32_t at,
		  enum structure_wait_kind kind, uint32_t cycles, bool is_used, bool is_carried)
{
	const struct depend_cause *c = cause(f, wait, k);
	assert_non_null(c);
	if (!c)
		return;
	assert_int_equal(c->cause, at * SASS_BYTES);
	assert_int_equal(c->kind, kind);
	assert_int_equal(c->cycles, cycles);
	assert_int_equal(c->is_used, is_used);
	assert_int_equal(c->is_carried, is_carried);
}
static int operation(const struct function *f, uint32_t wait, unsigned k)
{
	const struct depend_cause *c = cause(f, wait, k);
	return c ? c->operation : STRUCTURE_N_OPERATIONS;
}
static int chained(const struct function *f, uint32_t wait)
{
	const struct depend_cause *c = cause(f, wait, 0);
	return c ? c->is_chained : -1;
}
#define BUILD(lines) build(&f, lines, sizeof(lines) / sizeof *(lines))

/* Words of libraries of CUDA 13, and what nvdisasm says of them. */
static void test_decoding(void **state)
{
	uint8_t bytes[SASS_BYTES];
	struct sass_instruction s;
	(void)state;
	/* [B------:R-:W2:-:S04] LDG.E R12, desc[UR10][R26.64] */
	put(bytes, UINT64_C(0x0000000a1a0c7981));
	put(bytes + 8, UINT64_C(0x000ea8000c1e1900));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_GLOBAL_LOAD);
	assert_int_equal(s.bytes, 4);
	assert_int_equal(s.stall, 4);
	assert_int_equal(s.results, 1 << 2);
	assert_int_equal(s.operands, 0);
	assert_int_equal(s.waits, 0);
	assert_int_equal(s.n_writes, 1);
	assert_int_equal(s.writes[0].first, SASS_R + 12);
	assert_int_equal(s.n_reads, 2);
	assert_int_equal(s.reads[0].first, SASS_R + 26);
	assert_int_equal(s.reads[0].n, 2);
	assert_int_equal(s.reads[1].first, SASS_UR + 10);
	for (unsigned size = 0; size < 7; size++) { /* U8, S8, U16, S16, 32, 64, 128 bits */
		put(bytes + 8, UINT64_C(0x000ea8000c1e1100) | (uint64_t)size << 9);
		sass_decode(bytes, &s);
		assert_int_equal(s.bytes, "\1\1\2\2\4\10\20"[size]);
	}
	/* LDG.E.STRONG.SYS, and LDG.E.STRONG.GPU, which sm_75 has for all loads */
	put(bytes + 8, UINT64_C(0x000ea8000c1f5900));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_STRONG_LOAD);
	assert_int_equal(s.bytes, 4);
	put(bytes + 8, UINT64_C(0x000ea8000c1ee900));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_GLOBAL_LOAD);
	/* I2F.U32.RP R7, R20; I2F.U32 R7, R20; I2F.U64.RP R4, R18 */
	put(bytes, UINT64_C(0x0000001400077306));
	put(bytes + 8, UINT64_C(0x000e220000209000));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_DIVISION);
	put(bytes + 8, UINT64_C(0x000e220000201000));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_CONVERSION);
	put(bytes, UINT64_C(0x0000000400067d12));
	put(bytes + 8, UINT64_C(0x000e300008309000));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_DIVISION);
	/* @P0 ATOMG.E.ADD.STRONG.GPU PT, R13, desc[UR8][R6.64], R13: waits for 1, 2 and 4 */
	put(bytes, UINT64_C(0x0000000d060d09a8));
	put(bytes + 8, UINT64_C(0x0162a800081ee1c8));
	sass_decode(bytes, &s);
	assert_int_equal(s.operation, STRUCTURE_GLOBAL_ATOMIC);
	assert_int_equal(s.results, 1 << 2);
	assert_int_equal(s.operands, 1 << 1);
	assert_int_equal(s.waits, 1 << 1 | 1 << 2 | 1 << 4);
	assert_int_equal(s.n_reads, 4); /* address, data, descriptor, predicate */
	assert_int_equal(s.bytes, 0);
	/* DEPBAR.LE SB5, 0x1 */
	put(bytes, UINT64_C(0x0000d0400000791a));
	put(bytes + 8, UINT64_C(0x000fc80000000000));
	sass_decode(bytes, &s);
	assert_int_equal(s.waits, 1 << 5);
	assert_int_equal(s.still_out, 1);
	/* WARPGROUP.DEPBAR.LE gsb0, 0x1; HGMMA ... gsb0 */
	put(bytes, UINT64_C(0x00008000000079c5));
	put(bytes + 8, UINT64_C(0x000fe40000010100));
	sass_decode(bytes, &s);
	assert_int_equal(s.waits, 1 << SASS_MATRIX_BARRIER);
	assert_int_equal(s.still_out, 1);
	put(bytes, UINT64_C(0x00000000081879f0));
	put(bytes + 8, UINT64_C(0x000fe6000c0008ff));
	sass_decode(bytes, &s);
	assert_int_equal(s.results, 1 << SASS_MATRIX_BARRIER);
	assert_int_equal(s.operation, STRUCTURE_TENSOR);
}

/* Where threads of different paths are together again, the cause is what began the region. */
static void test_divergence(void **state)
{
	struct line lines[] = {
		{BSSY, 6, 0, 0, 1, NONE, NONE, 0, false},
		{BRA, 4, 0, 0, 1, NONE, NONE, 0, true},
		{FADD, 6, 4, 4, 5, NONE, NONE, 0, false},
		{BRA, 5, 0, 0, 1, NONE, NONE, 0, false},
		{FADD, 7, 4, 4, 5, NONE, NONE, 0, false},
		{BSYNC, 0, 0, 0, 1, NONE, NONE, 0, false},
		{NOP, ZERO, ZERO, ZERO, 1, NONE, NONE, 0, false}, /* 6 */
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 6, 0, 0, STRUCTURE_WAIT_PATHS, UINT16_MAX, false, false);
	assert_null(cause(&f, 6, 1));
	release(&f);
	lines[0].d = 7; /* it leaves the block, so how often it ran is not known */
	BUILD(lines);
	assert_null(cause(&f, 7, 0));
	release(&f);
}

static void test_straight(void **state)
{
	static const struct line lines[] = {
		{LDG, 4, 2, ZERO, 1, 0, NONE, 0, false},
		{LDG, 5, 2, ZERO, 2, 0, NONE, 0, false}, /* the same barrier */
		{LDS, 8, 9, ZERO, 3, 1, 3, 0, false},
		{FADD, 6, 4, 4, 5, NONE, NONE, 1 << 0, false}, /* 3: needs line 0 */
		{LDG, 4, 2, ZERO, 1, 0, NONE, 0, false},
		{FADD, 9, 4, 8, 4, NONE, NONE, 1 << 0 | 1 << 1 | 1 << 3, false}, /* 5 */
		{FADD, 7, 6, 6, 1, NONE, NONE, 1 << 0, false}, /* 6: nothing is left to wait for */
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 3, 0, 0, STRUCTURE_WAIT_RESULT, 6, true, false);
	check(&f, 3, 1, 1, STRUCTURE_WAIT_RESULT, 5, false, false);
	assert_null(cause(&f, 3, 2));
	check(&f, 5, 0, 4, STRUCTURE_WAIT_RESULT, 1, true, false);
	/* the load has read R9 and written R8 */
	check(&f, 5, 1, 2, STRUCTURE_WAIT_RESULT, 9, true, false);
	check(&f, 5, 2, 2, STRUCTURE_WAIT_OPERANDS, 9, true, false);
	assert_null(cause(&f, 5, 3));
	check(&f, 6, 0, 3, STRUCTURE_WAIT_FIXED, 10, true, false);
	assert_null(cause(&f, 6, 1));
	assert_int_equal(f.counts.n_waits, 5);
	assert_int_equal(f.counts.n_explained, 4);
	assert_int_equal(f.counts.n_entered, 0);
	assert_int_equal(operation(&f, 3, 0), STRUCTURE_GLOBAL_LOAD);
	assert_int_equal(operation(&f, 5, 1), STRUCTURE_SHARED_LOAD);
	release(&f);
}

/*
 * A load of a list in a loop, unrolled twice: each needs the one before it. A load whose address
 * only counts is none, though its result is written where an address was, and neither is one whose
 * address is reset in each iteration.
 */
static void test_chains(void **state)
{
	static const struct line lines[] = {
		{FADD, 4, 9, 9, 4, NONE, NONE, 0, false},
		{LDG, 4, 4, ZERO, 1, 0, NONE, 0, false},       /* 1: the loop */
		{FADD, 6, 4, 9, 4, NONE, NONE, 1 << 0, false}, /* 2 */
		{LDG, 4, 6, ZERO, 1, 0, NONE, 0, false},       /* 3 */
		{FADD, 2, 2, 9, 4, NONE, NONE, 1 << 0, false}, /* 4 */
		{LDG, 7, 2, ZERO, 1, 1, NONE, 0, false},       /* 5: counts */
		{FADD, 8, 7, 7, 4, NONE, NONE, 1 << 1, false}, /* 6 */
		{FADD, 8, 2, 9, 4, NONE, NONE, 0, false},      /* 7 */
		{LDG, 8, 8, ZERO, 1, 2, NONE, 0, false},       /* 8: reset by the line before */
		{FADD, 5, 8, 5, 4, NONE, NONE, 1 << 2, false}, /* 9 */
		{BRA, 1, 0, 0, 5, NONE, NONE, 0, true},
		{LDG, 4, 4, ZERO, 1, 0, NONE, 0, false}, /* 11: in no loop */
		{FADD, 5, 4, 5, 4, NONE, NONE, 1 << 0, false},
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	assert_int_equal(chained(&f, 2), true);
	assert_int_equal(chained(&f, 4), true);
	assert_int_equal(chained(&f, 6), false);
	assert_int_equal(chained(&f, 9), false);
	assert_int_equal(chained(&f, 12), false);
	release(&f);
}

/* Both arms of a branch, and what comes from an earlier iteration. */
static void test_paths(void **state)
{
	static const struct line lines[] = {
		{LDG, 4, 2, ZERO, 1, 0, NONE, 0, false},
		{BRA, 4, 0, 0, 5, NONE, NONE, 0, true},
		{MUFU, 4, ZERO, 9, 2, 0, NONE, 1 << 0, false}, /* 2: waits, then holds it again */
		{NOP, 0, 0, 0, 1, NONE, NONE, 0, false},
		{FADD, 6, 4, 4, 4, NONE, NONE, 1 << 0, false}, /* 4: after either */
		{FADD, 6, 7, 7, 4, NONE, NONE, 1 << 2, false}, /* 5: the loop; needs line 6 */
		{LDG, 7, 2, ZERO, 6, 2, NONE, 0, false},
		{BRA, 5, 0, 0, 5, NONE, NONE, 0, true},
		{EXIT, 0, 0, 0, 5, NONE, NONE, 1 << 3, false}, /* 8: nobody holds it */
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 2, 0, 0, STRUCTURE_WAIT_RESULT, 6, true, false);
	check(&f, 4, 0, 2, STRUCTURE_WAIT_RESULT, 3, true, false);
	check(&f, 4, 1, 0, STRUCTURE_WAIT_RESULT, 6, true, false);
	assert_null(cause(&f, 4, 2));
	check(&f, 5, 0, 6, STRUCTURE_WAIT_RESULT, 11, true, true);
	assert_null(cause(&f, 5, 1));
	assert_null(cause(&f, 8, 0));
	assert_int_equal(f.counts.n_entered, 1);
	release(&f);
}

static void test_groups(void **state)
{
	static const struct line lines[] = {
		{LDGSTS, 30, 2, ZERO, 1, NONE, NONE, 0, false},
		{LDGSTS, 31, 2, ZERO, 1, NONE, NONE, 0, false},
		{LDGDEPBAR, 0, 0, 0, 1, 0, NONE, 0, false},
		{LDGSTS, 32, 2, ZERO, 1, NONE, NONE, 0, false},
		{LDGDEPBAR, 0, 0, 0, 1, 0, NONE, 0, false},
		{DEPBAR, 0, 0, 1, 1, NONE, NONE, 0, false}, /* 5: SB0, 1: the first group is done */
		{DEPBAR, 0, 0, 0, 1, NONE, NONE, 0, false}, /* 6: SB0, 0: so is the second */
		{CALL, 0, 0, 0, 5, NONE, NONE, 0, false},
		{FADD, 6, 7, 7, 4, NONE, NONE, 1 << 4, false}, /* 8: held by the called function */
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 5, 0, 1, STRUCTURE_WAIT_RESULT, 4, false, false);
	check(&f, 5, 1, 0, STRUCTURE_WAIT_RESULT, 5, false, false);
	assert_null(cause(&f, 5, 2));
	check(&f, 6, 0, 3, STRUCTURE_WAIT_RESULT, 3, false, false);
	check(&f, 8, 0, 7, STRUCTURE_WAIT_RESULT, 5, false, false);
	assert_int_equal(operation(&f, 8, 0), STRUCTURE_CALL);
	release(&f);
}

/* A barrier after a branch with a long and a short arm, then one with nothing between. */
static void test_joins(void **state)
{
	static const struct line lines[] = {
		{BRA, 4, 0, 0, 5, NONE, NONE, 0, true},   {FADD, 6, 7, 7, 4, NONE, NONE, 0, false},
		{FADD, 6, 7, 7, 4, NONE, NONE, 0, false}, {BRA, 5, 0, 0, 5, NONE, NONE, 0, false},
		{NOP, 0, 0, 0, 1, NONE, NONE, 0, false},  {BAR, 0, 0, 0, 6, NONE, NONE, 0, false},
		{BAR, 0, 0, 0, 6, NONE, NONE, 0, false},  {EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 5, 0, 3, STRUCTURE_WAIT_WARPS, 18, false, false);
	check(&f, 5, 1, 4, STRUCTURE_WAIT_WARPS, 6, false, false);
	assert_null(cause(&f, 5, 2));
	assert_null(cause(&f, 6, 0));
	release(&f);
}

/* A warp is held a few cycles behind the barrier. */
static void test_deferred(void **state)
{
	static const struct line lines[] = {
		{BRA, 2, 0, 0, 5, NONE, NONE, 0, true},
		{NOP, 0, 0, 0, 1, NONE, NONE, 0, false},
		{BAR, 0, 0, 0, 5, NONE, NONE, 0, false},
		{NOP, 0, 0, 0, 13, NONE, NONE, 0, false},
		{NOP, 0, 0, 0, 5, NONE, NONE, 0, false},
		{NOP, 0, 0, 0, 5, NONE, NONE, 0, false}, /* 5: 23 cycles */
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	for (uint32_t i = 2; i < 5; i++) {
		check(&f, i, 0, 1, STRUCTURE_WAIT_WARPS, 6, false, false);
		check(&f, i, 1, 0, STRUCTURE_WAIT_WARPS, 5, false, false);
	}
	assert_null(cause(&f, 5, 0));
	release(&f);
}

/* The delay before an instruction is due to what it reads, if that was issued just before. */
static void test_latency(void **state)
{
	static const struct line lines[] = {
		{FADD, 6, 1, 1, 1, NONE, NONE, 0, false},  {FADD, 7, 1, 1, 4, NONE, NONE, 0, false},
		{FADD, 8, 6, 6, 1, NONE, NONE, 0, false}, /* 2: line 0 */
		{FADD, 9, 1, 1, 1, NONE, NONE, 0, false}, /* 3: no delay */
		{NOP, 0, 0, 0, 9, NONE, NONE, 0, false},   {NOP, 0, 0, 0, 9, NONE, NONE, 0, false},
		{FADD, 10, 8, 9, 1, NONE, NONE, 0, false}, /* 6: both were ready long before */
		{EXIT, 0, 0, 0, 5, NONE, NONE, 0, false},
	};
	struct function f;
	(void)state;
	BUILD(lines);
	check(&f, 2, 0, 0, STRUCTURE_WAIT_FIXED, 5, true, false);
	assert_int_equal(f.causes.n, 1);
	release(&f);
}

/* ---- against a search of single instructions ---- */

static uint64_t next(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 33;
}

static uint32_t predecessors(const struct line *lines, uint32_t n, uint32_t at, uint32_t *out)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool falls = i + 1 == at && lines[i].code != EXIT &&
			     (lines[i].code != BRA || lines[i].is_conditional);
		if (falls || (lines[i].code == BRA && lines[i].d == at))
			out[k++] = i;
	}
	return k;
}

/* Marks the instructions that hold the barrier where `wait` waits for it. */
static void search(const struct line *lines, uint32_t n, uint32_t wait, unsigned barrier,
		   bool *holds)
{
	uint32_t stack[64], depth = 0, from[64];
	bool seen[64] = {false};
	memset(holds, 0, n);
	stack[depth++] = wait;
	while (depth > 0) {
		uint32_t at = stack[--depth], k = predecessors(lines, n, at, from);
		for (uint32_t i = 0; i < k; i++) {
			if (seen[from[i]])
				continue;
			seen[from[i]] = true;
			holds[from[i]] = lines[from[i]].result == barrier;
			if (!(lines[from[i]].waits & 1u << barrier))
				stack[depth++] = from[i];
		}
	}
}

static void test_random(void **state)
{
	uint64_t seed = 7;
	unsigned n_found = 0;
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct line lines[24];
		bool holds[24];
		struct function f;
		uint32_t n = 8 + (uint32_t)(next(&seed) % 16);
		for (uint32_t i = 0; i < n; i++) {
			unsigned kind = (unsigned)(next(&seed) % 8);
			lines[i] = (struct line){NOP, 0, 0, 0, 1, NONE, NONE, 0, false};
			if (kind == 0)
				lines[i] = (struct line){LDG, 4, 2, ZERO, 1, 0, NONE, 0, false};
			else if (kind == 1)
				lines[i].waits = 1;
			else if (kind == 2) /* never to itself: that would be a trap */
				lines[i] = (struct line){BRA,
							 (i + 1 + next(&seed) % (n - 1)) % n,
							 0,
							 0,
							 1,
							 NONE,
							 NONE,
							 0,
							 next(&seed) % 4 > 0};
		}
		lines[n - 1] = (struct line){EXIT, 0, 0, 0, 1, NONE, NONE, 0, false};
		build(&f, lines, n);
		for (uint32_t i = 0; i < n; i++) {
			unsigned k = 0, n_holds = 0;
			if (!(lines[i].waits & 1))
				continue;
			search(lines, n, i, 0, holds);
			for (uint32_t at = 0; at < n; at++)
				n_holds += holds[at];
			for (; cause(&f, i, k); k++)
				assert_true(holds[cause(&f, i, k)->cause / SASS_BYTES]);
			assert_int_equal(k,
					 n_holds < DEPEND_MAX_CAUSES ? n_holds : DEPEND_MAX_CAUSES);
			n_found += k;
		}
		release(&f);
	}
	assert_true(n_found > 3000);
}

/* 100,000 blocks without a wait between: the search ends, and says so. */
static void test_bound(void **state)
{
	enum { N = 200000 };
	struct line *lines = calloc(N, sizeof *lines);
	struct function f;
	(void)state;
	assert_non_null(lines);
	lines[0] = (struct line){LDG, 4, 2, ZERO, 1, 0, NONE, 0, false};
	for (uint32_t i = 1; i < N; i++)
		lines[i] = i % 2 ? (struct line){BRA, i + 1, 0, 0, 1, NONE, NONE, 0, true}
				 : (struct line){FADD, 6, 4, 4, 1, NONE, NONE, 2, false};
	lines[N - 2].waits = 1;
	lines[N - 1] = (struct line){EXIT, 0, 0, 0, 1, NONE, NONE, 0, false};
	build(&f, lines, N);
	assert_int_equal(f.counts.n_cut, 1);
	assert_int_equal(f.counts.n_instructions, N);
	release(&f);
	free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decoding), cmocka_unit_test(test_divergence),
		cmocka_unit_test(test_straight), cmocka_unit_test(test_chains),
		cmocka_unit_test(test_paths),    cmocka_unit_test(test_groups),
		cmocka_unit_test(test_joins),    cmocka_unit_test(test_deferred),
		cmocka_unit_test(test_latency),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
