/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as code of each machine, through decoder, jump tables, blocks, loops and
 *what instructions wait for, with checks of all that these promise. With libFuzzer (clang
 *-fsanitize=fuzzer,address -DFUZZ_ENGINE); else a program that replays files and their mutants:
 *
 *	fuzz_flow [-n MUTANTS] FILE...
 */
#include "hpcstruct-lite/depend/depend.h"
#include "hpcstruct-lite/flow/flow.h"
#include "hpcstruct-lite/isa/isa.h"
#include "tests/fuzz/mutate.h"

#include <elf.h>

#define BASE UINT64_C(0x10000)
#define CHECK(x) \
	do { \
		if (!(x)) { \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
			abort(); \
		} \
	} while (0)

struct sums {
	unsigned long n_loops, n_irreducible, n_tables, n_causes;
};
static struct sums sums;

static bool count_table(void *arg, const struct isa_table *table)
{
	size_t n = *(const size_t *)arg;
	CHECK(table->jump >= BASE && table->jump < BASE + n);
	CHECK(table->entry_bytes == 1 || table->entry_bytes == 2 || table->entry_bytes == 4 ||
	      table->entry_bytes == 8);
	sums.n_tables++;
	return true;
}

static void check_loops(const struct flow *f)
{
	for (uint32_t i = 0; i < f->n_blocks; i++) {
		CHECK(f->blocks.at[i].start < f->blocks.at[i].end &&
		      f->blocks.at[i].end <= f->blocks.at[i + 1].start);
		CHECK(f->innermost.at[i] == FLOW_NONE || f->innermost.at[i] < f->loops.n);
		CHECK(flow_block_at(f, f->blocks.at[i].start) == i);
	}
	for (uint32_t i = 0; i < f->loops.n; i++) {
		const struct flow_loop *l = &f->loops.at[i];
		bool is_reached = false;
		CHECK(f->innermost.at[l->header] == i);
		CHECK(l->parent == FLOW_NONE
			      ? l->depth == 0
			      : l->parent < i && l->depth == f->loops.at[l->parent].depth + 1);
		for (uint32_t b = 0; b < f->n_blocks && !is_reached; b++)
			for (uint32_t k = f->blocks.at[b].first_successor;
			     k < f->blocks.at[b + 1].first_successor; k++)
				is_reached |= f->successors.at[k] == l->header &&
					      flow_contains(f, i, f->innermost.at[b]);
		CHECK(is_reached);
		sums.n_irreducible += l->is_irreducible;
	}
	sums.n_loops += f->loops.n;
}

static const uint8_t *bytes_at(void *arg, uint32_t position)
{
	return (const uint8_t *)arg + position;
}

static void check_waits(const struct flow *f, const uint8_t *data, size_t n)
{
	/* exactly as long as the code, so that reading beyond it is noticed */
	uint8_t *copy = malloc(n);
	struct depend *d = depend_new();
	struct depend_causes causes = {0};
	struct depend_counts counts = {0};
	CHECK(copy && d);
	memcpy(copy, data, n);
	CHECK(depend_find(d, f, bytes_at, copy, &causes, &counts));
	for (size_t i = 0, k = 0; i < causes.n; i++) {
		const struct depend_cause *c = &causes.at[i];
		CHECK(i == 0 || c->wait >= c[-1].wait);
		k = i > 0 && c->wait == c[-1].wait ? k + 1 : 1;
		CHECK(k <= DEPEND_MAX_CAUSES);
		CHECK(c->wait + SASS_BYTES <= n && c->cause + SASS_BYTES <= n);
		CHECK(c->kind < STRUCTURE_N_WAIT_KINDS && c->operation < STRUCTURE_N_OPERATIONS);
		CHECK(c->cycles <= UINT16_MAX);
	}
	CHECK(counts.n_explained <= counts.n_waits);
	sums.n_causes += causes.n;
	vec_free(&causes);
	depend_free(d);
	free(copy);
}

static void run(const struct isa *isa, const uint8_t *data, size_t n)
{
	VEC(struct flow_transfer) transfers = {0};
	struct flow f = {0};
	struct isa_instruction i;
	for (size_t at = 0; at < n; at += i.n_bytes) {
		isa->decode(data + at, n - at, BASE + at, &i);
		CHECK(i.n_bytes > 0 && i.n_bytes <= n - at && i.kind <= ISA_INVALID);
		struct flow_transfer *t = i.kind == ISA_PLAIN ? NULL : vec_push(&transfers);
		if (t)
			*t = (struct flow_transfer){(uint32_t)at,
						    (uint32_t)(at + i.n_bytes),
						    i.has_target && i.target >= BASE
							    ? (uint32_t)(i.target - BASE)
							    : FLOW_NONE,
						    i.kind,
						    i.is_conditional,
						    i.kind == ISA_CALL && at % 3 == 0};
	}
	if (isa->find_tables)
		isa->find_tables(data, n, BASE, count_table, &n);
	struct flow_range range = {0, (uint32_t)n};
	struct flow_code code = {.ranges = &range,
				 .n_ranges = 1,
				 .transfers = transfers.at,
				 .n_transfers = transfers.n};
	for (int pass = 0; pass < 2; pass++) {
		code.with_unreached = pass == 1;
		CHECK(flow_build(&f, &code) && flow_find_loops(&f, &code));
		check_loops(&f);
		if (isa->has_waits)
			check_waits(&f, data, n);
	}
	flow_free(&f);
	vec_free(&transfers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct isa *const machines[] = {isa_find(EM_X86_64, 0), isa_find(EM_AARCH64, 0),
					      isa_find(EM_CUDA, 80), isa_find(EM_CUDA, 90)};
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i] && n > 0)
			run(machines[i], data, n);
	return 0;
}

#ifndef FUZZ_ENGINE
/* Some of the bytes, changed. */
static size_t change(uint8_t *mutant, size_t n, unsigned long k, uint64_t *state)
{
	size_t from = (size_t)(mutate_random(state) % n),
	       some = 1 + (size_t)(mutate_random(state) % 4096);
	(void)k;
	some = some < n - from ? some : n - from;
	memmove(mutant, mutant + from, some);
	mutate_bytes(mutant, 0, some, state);
	return some;
}

int main(int argc, char **argv)
{
	int n_files;
	mutate_files(&(struct mutate_target){.one = LLVMFuzzerTestOneInput, .change = change}, argc,
		     argv, &n_files);
	printf("# %lu loops, %lu irreducible, %lu jump tables, %lu causes of waits\n",
	       sums.n_loops, sums.n_irreducible, sums.n_tables, sums.n_causes);
	return 0;
}
#endif
