/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as a perf map and as a jitdump; everything that was read is looked up. As
 * LLVMFuzzerTestOneInput for libFuzzer (clang -fsanitize=fuzzer,address,undefined -DFUZZ_ENGINE).
 * Else a program that replays files and mutants:
 *
 *	fuzz_jit [-n MUTANTS] FILE...
 */
#include "hpcprof-lite/load/jit/load_jit.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct look {
	const struct jit_names *names;
	uint64_t addr;
	unsigned n;
};

static bool look(void *arg, const struct jit_code *code)
{
	struct look *l = arg;
	uint32_t file, line;
	if (code->start > l->addr || code->end <= l->addr
		|| !strtab_get(&l->names->strings, code->name))
		abort();
	if (jit_line_at(l->names, code, l->addr, &file, &line)
		&& !strtab_get(&l->names->strings, file)[0])
		abort();
	return ++l->n < 16;
}

static void look_at_all(const struct jit_names *names, const jit_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct look l = {names, list->at[i].start, 0};
		jit_find(list, l.addr, look, &l);
		if (l.n == 0)
			abort();
		l = (struct look){names, list->at[i].end - 1, 0};
		jit_find(list, l.addr, look, &l);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* exactly as long: reads beyond it show under the sanitizers */
	uint8_t *bytes = malloc(n ? n : 1);
	struct jit_names names = {0};
	if (!bytes)
		return 0;
	memcpy(bytes, data, n);
	if (!jit_read_map(&names, bytes, n) || !jit_read_dump(&names, bytes, n))
		abort();
	free(bytes);
	jit_sort(&names);
	look_at_all(&names, &names.map);
	look_at_all(&names, &names.dump);
	jit_names_free(&names);
	return 0;
}

#ifndef FUZZ_ENGINE
int main(int argc, char **argv)
{
	const struct mutate_target target = {.one = LLVMFuzzerTestOneInput};
	int n_files;
	unsigned long n = mutate_files(&target, argc, argv, &n_files);
	printf("%d files, %lu mutants of each\n", n_files, n);
	return n_files == 0;
}
#endif
