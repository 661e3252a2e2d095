/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a structure file, with the check value made right first so that they
 *get past it; then every lookup. As LLVMFuzzerTestOneInput for libFuzzer (clang
 *-fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files and mutants
 *of them:
 *
 *	fuzz_structure [-n MUTANTS] FILE...
 */
#include "common/base/log.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t sum; /* of all that was read, so that it is read */

static void read_all(const struct structure *s)
{
	struct structure_place place;
	uint64_t start, end;
	uint32_t scope;
	size_t n_bytes;
	for (uint32_t i = 0; i < structure_n_scopes(s); i++) {
		struct structure_scope c = structure_get_scope(s, i);
		sum += strlen(c.name) + strlen(c.linkage_name) + c.line;
		if (c.file != STRUCTURE_NONE)
			sum += strlen(structure_get_file(s, c.file));
		if (c.call_file != STRUCTURE_NONE)
			sum += strlen(structure_get_file(s, c.call_file));
		if ((c.kind == STRUCTURE_FUNCTION) != (c.parent == STRUCTURE_NONE) ||
		    (c.parent != STRUCTURE_NONE && c.parent >= i))
			abort();
	}
	for (size_t i = 0; i < structure_n_intervals(s); i++) {
		bool known = structure_get_interval(s, i, &start, &end, &place);
		struct structure_place looked_up;
		if (end <= start || structure_lookup(s, start, &looked_up) != known ||
		    structure_lookup(s, end - 1, &looked_up) != known)
			abort();
		if (known && (looked_up.scope != place.scope || looked_up.file != place.file ||
			      looked_up.line != place.line))
			abort();
		if (known && place.file != STRUCTURE_NONE)
			sum += strlen(structure_get_file(s, place.file));
	}
	for (size_t i = 0; i < structure_n_aliases(s); i++)
		sum += strlen(structure_get_alias(s, i, &scope));
	sum += strlen(structure_binary(s)) + strlen(structure_debug_file(s)) +
	       strlen(structure_producer(s));
	for (uint64_t a = 0; a < 64; a++)
		sum += structure_lookup(s, UINT64_C(1) << a, &place);
	for (size_t i = 0; i < structure_n_waits(s); i++) {
		struct structure_wait w = structure_get_wait(s, i), found;
		if (w.n == 0 || !structure_find_wait(s, w.link_addr, &found) ||
		    found.first != w.first || found.n != w.n)
			abort();
		for (size_t k = w.first; k < w.first + w.n; k++) {
			struct structure_cause c = structure_get_cause(s, k);
			sum += strlen(structure_operation_name(c.operation)) + c.link_addr +
			       c.cycles + (c.kind <= STRUCTURE_N_WAIT_KINDS ? 0 : 1u << 31);
		}
	}
	structure_build_id(s, &n_bytes);
	sum += n_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct structure *s;
	void *bytes;
	if (posix_memalign(&bytes, 64, n ? n : 1) != 0) /* exactly as long as the input */
		return 0;
	memcpy(bytes, data, n);
	struct structure_header *h = bytes;
	if (n >= sizeof *h) {
		h->file_bytes = n;
		h->check = structure_check_file(bytes, n);
	}
	if (structure_open("fuzz", bytes, n, &s) == STATUS_OK) {
		read_all(s);
		structure_close(s);
	}
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE
int main(int argc, char **argv)
{
	int n_files;
	unsigned long n_mutants =
		mutate_files(&(struct mutate_target){.one = LLVMFuzzerTestOneInput, .speaks = true},
			     argc, argv, &n_files);
	printf("# %d files, %lu mutants each, sum %llu\n", n_files, n_mutants,
	       (unsigned long long)sum);
	return 0;
}
#endif
