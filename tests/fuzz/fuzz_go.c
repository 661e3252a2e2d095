/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a Go program's table of functions, with a moduledata that fits it. What
 * was read must hold together. As LLVMFuzzerTestOneInput for libFuzzer (clang
 * -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE). Else a program that tries mutants of
 *synthetic tables of both layouts:
 *
 *	fuzz_go [N]
 */
#include "common/base/log.h"
#include "hpcstruct-lite/debug/go_table.h"
#include "tests/fuzz/mutate.h"
#include "tests/struct/go_made.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const struct debug_unit *u)
{
	for (size_t i = 0; i < u->scopes.n; i++)
		if ((u->scopes.at[i].parent != DEBUG_NONE && u->scopes.at[i].parent >= i)
			|| u->scopes.at[i].definition >= u->definitions.n)
			abort();
	for (size_t i = 0; i < u->definitions.n; i++)
		if (!u->definitions.at[i].name || !u->definitions.at[i].name[0])
			abort();
	for (size_t i = 0; i < u->ranges.n; i++)
		if (u->ranges.at[i].scope >= u->scopes.n ||
		    u->ranges.at[i].end <= u->ranges.at[i].start)
			abort();
	for (size_t i = 0; i < u->rows.n; i++)
		if (u->rows.at[i].file != DEBUG_NONE && u->rows.at[i].file >= u->files.starts.n)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct go_made made;
	/* exactly as long: reads beyond it show under the sanitizers */
	uint8_t *bytes = malloc(n ? n : 1);
	struct debug_unit u = {0};
	if (!bytes)
		return 0;
	memcpy(bytes, data, n);
	go_make_image(&made, bytes, n, n > 0 && bytes[0] == 0xf1);
	if (go_read_table(&made.image, &u) == STATUS_OK)
		check(&u);
	debug_unit_free(&u);
	go_free_image(&made);
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE
int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	uint8_t table[GO_TABLE_BYTES];
	uint64_t state = mutate_seed(n);
	log_set_quiet(true);
	if (!freopen("/dev/null", "w", stderr))
		return 1;
	for (unsigned long k = 0; k < n; k++) {
		go_make_table(table, k % 2);
		if (k > 1)
			mutate_bytes(table, k % 8 < 2 ? 0 : 72, k % 8 == 5 ? sizeof table : 640,
				     &state);
		LLVMFuzzerTestOneInput(table, k % 16 ? sizeof table
						     : mutate_random(&state) % sizeof table);
	}
	printf("%lu mutants\n", n);
	return 0;
}
#endif
