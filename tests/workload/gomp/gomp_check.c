/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the sums of parallel regions in measurement files, a line each: size of the team,
 * instances, timed threads, then ns: from fork to join, in the function, of the longest and of the
 * shortest thread; then whether call and function are known. Fails if they cannot be right.
 * Usage: gomp_check FILE...
 */
#include "common/format/measurement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int failed;

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void check(const struct msr_omp_region *r)
{
	const uint64_t n = get(&r->instances), elapsed = get(&r->elapsed_ns),
		       busy = get(&r->busy_ns), longest = get(&r->max_ns),
		       shortest = get(&r->min_ns);
	printf("%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %d\n",
	       r->n_threads, n, get(&r->n_timed), elapsed, busy, longest, shortest, r->call != 0,
	       r->function != 0);
	if (!r->call && !r->function)
		return; /* of teams of any size */
	if (!n || get(&r->n_timed) != n * r->n_threads || shortest > longest || longest > busy ||
	    longest > elapsed || busy > longest * r->n_threads) {
		printf("impossible\n");
		failed = 1;
	}
}

static void read_regions(const uint8_t *bytes, uint64_t n_bytes)
{
	struct msr_view v;
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;)
		for (uint64_t at = 0; s == MSR_SCAN_EXTENT && v.extent->kind == MSR_OMP_REGION &&
				      at + sizeof(struct msr_omp_region) <= v.n_bytes;
		     at += v.extent->record_bytes)
			check((const void *)(v.content + at));
}

int main(int argc, char **argv)
{
	enum { MOST = 64 << 20 };
	uint8_t *bytes = aligned_alloc(64, MOST);
	for (int i = 1; i < argc && bytes; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f)
			return 2;
		read_regions(bytes, fread(bytes, 1, MOST, f));
		fclose(f);
	}
	free(bytes);
	return failed;
}
