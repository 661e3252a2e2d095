/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a measurement file, through load, merge, expand, sums, time lines and
 * the complete text. As LLVMFuzzerTestOneInput for libFuzzer (clang
 * -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE); else a program that replays files, and
 * mutants of them:
 *
 *     fuzz_measurement [-n MUTANTS] FILE...
 *
 * make check replays the golden measurements with mutants of each. Inputs that fail go to
 * corpus/measurement beside this file.
 */
#include "common/base/log.h"
#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "tests/fuzz/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* The file, which the job takes over, and the children of fork inside of it. */
static bool open_processes(struct load_file *f, struct load_job *job)
{
	for (size_t i = 0; i < f->inside.n; i++) {
		struct load_file *to = vec_push(&job->files);
		if (!to)
			return false;
		if (load_file_inside(f, i, to) != STATUS_OK) {
			load_file_close(to);
			job->files.n--;
		}
	}
	struct load_file *to = vec_push(&job->files);
	if (!to)
		return false;
	*to = *f;
	*f = (struct load_file){0};
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static FILE *nowhere;
	/* exactly as long as the input: reads beyond it show under the sanitizers */
	void *bytes;
	if (posix_memalign(&bytes, 64, n ? n : 1) != 0)
		return 0;
	memcpy(bytes, data, n);
	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	struct load_job job = {0};
	struct load_file f = {0};
	struct attribute_options o = {.n_workers = 1, .ranges = true};
	struct model *m = NULL;
	if (load_file_bytes("fuzz", bytes, n, &f) == STATUS_OK && open_processes(&f, &job) &&
	    attribute_run(&job, &o, &m) == STATUS_OK) {
		if (sink_text_all(m, nowhere) != STATUS_OK)
			abort();
		model_free(m);
	}
	load_job_close(&job);
	load_file_close(&f);
	free(bytes);
	return 0;
}

#ifndef FUZZ_ENGINE

/* Numbers at places that are multiples of their size, bits, blocks where extents may lie; now and
 * then the end is missing. */
static size_t change(uint8_t *bytes, size_t n, unsigned long mutant, uint64_t *state)
{
	static const uint64_t odd[] = {0,
				       1,
				       0x7f,
				       0xff,
				       0xffff,
				       0x7fffffff,
				       0xffffffff,
				       UINT64_C(0x7fffffffffffffff),
				       UINT64_MAX,
				       MSR_ENTRY_OMP_IDLE,
				       MSR_WAIT,
				       MSR_WAIT_ON,
				       MSR_FORWARD,
				       MSR_FORWARD + 3,
				       MSR_NVTX + 1,
				       MSR_NVTX + 3};
	const size_t n_odd = sizeof odd / sizeof *odd;
	(void)mutant;
	for (uint64_t k = 1 + mutate_random(state) % 8; k; k--) {
		size_t at = mutate_random(state) % n, size = (size_t)1 << mutate_random(state) % 4;
		uint64_t value = mutate_random(state) % 3 ? odd[mutate_random(state) % n_odd]
							  : mutate_random(state);
		at -= at % size;
		if (at + size > n)
			continue;
		switch (mutate_random(state) % 8) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << mutate_random(state) % 8);
			break;
		case 1: { /* a block elsewhere */
			size_t to = mutate_random(state) % n / 64 * 64,
			       from = mutate_random(state) % n / 64 * 64;
			if (to + 64 <= n && from + 64 <= n)
				memmove(bytes + to, bytes + from, 64);
			break;
		}
		case 2:
			if (mutate_random(state) % 16 == 0)
				n -= n > 64 ? mutate_random(state) % 64 : 0;
			break;
		default:
			memcpy(bytes + at, &value, size);
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	int n_files;
	unsigned long n_mutants = mutate_files(
		&(struct mutate_target){
			.one = LLVMFuzzerTestOneInput, .change = change, .speaks = true},
		argc, argv, &n_files);
	printf("# %d files, %lu mutants each\n", n_files, n_mutants);
	return 0;
}
#endif
