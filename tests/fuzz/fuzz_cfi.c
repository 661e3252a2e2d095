/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: .eh_frame_hdr and .eh_frame as foreign bytes; a row is made into a recipe, its
 * expressions are evaluated. With a fuzzer's driver (-DFUZZING, -fsanitize=fuzzer) or alone:
 * replays the files or folders given, and then each of them with bytes changed (a fixed
 * pseudo-random sequence).
 */
#include "hpcrun-lite/unwind/arch.h"
#include "hpcrun-lite/unwind/cfi.h"
#include "hpcrun-lite/unwind/regs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void evaluate(const struct cfi_rule *rule)
{
	static struct mem mem;
	static uint64_t stack[EXPR_STACK_MAX];
	static const struct regs regs = {.reg = {1, 2, 3, 4, 5, 6, 7, 8}, .known = ARCH_ALL_REGS};
	uint64_t value;
	mem_begin(&mem);
	if (rule->kind == CFI_EXPRESSION || rule->kind == CFI_VAL_EXPRESSION)
		expr_evaluate(rule->expression, rule->n_bytes, &regs, NULL, &mem, stack, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct cfi_work work;
	static const uint32_t pcs[] = {0, 16, 0x1000, 0x1004, 0x1076, 0x7fffff};
	uint8_t *exact =
		malloc(n_bytes ? n_bytes : 1); /* so that a sanitizer sees every byte beyond */
	if (n_bytes)
		memcpy(exact, data, n_bytes);
	const uintptr_t at = (uintptr_t)exact;
	const struct cfi_source source = {
		.lo = at, .hi = at + n_bytes, .map_lo = at, .map_hi = at + n_bytes, .hdr = at};
	for (size_t i = 0; i < sizeof pcs / sizeof *pcs; i++) {
		struct cfi_frame frame;
		if (cfi_lookup(&source, at + pcs[i], &work, &frame) != CFI_OK)
			continue;
		arch_recipe(&work.row, &frame, at + pcs[i]);
		evaluate(&work.row.cfa);
		for (unsigned r = 0; r < CFI_N_REGS; r++)
			evaluate(&work.row.reg[r]);
	}
	free(exact);
	return 0;
}

#ifndef FUZZING
enum { MAX_BYTES = 1 << 16, VARIANTS = 20000 };
static unsigned n_inputs;

static void run_file(const char *path)
{
	static uint8_t bytes[MAX_BYTES], changed[MAX_BYTES];
	FILE *f = fopen(path, "rb");
	if (!f)
		return;
	const size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	LLVMFuzzerTestOneInput(bytes, n);
	n_inputs++;
	uint64_t seed = 88172645463325252U;
	for (unsigned i = 0; i < VARIANTS && n; i++) {
		memcpy(changed, bytes, n);
		for (unsigned k = 0; k <= i % 4; k++) {
			seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; /* xorshift64 */
			changed[seed % n] = (uint8_t)(seed >> 32);
		}
		LLVMFuzzerTestOneInput(changed, n);
		n_inputs++;
	}
}

static void run_path(const char *path)
{
	DIR *dir = opendir(path);
	if (!dir) {
		run_file(path);
		return;
	}
	for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
		char name[4096];
		if (e->d_name[0] == '.' ||
		    snprintf(name, sizeof name, "%s/%s", path, e->d_name) >= (int)sizeof name)
			continue;
		run_file(name);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	const char *source_dir = getenv("top_srcdir");
	char corpus[4096];
	snprintf(corpus, sizeof corpus, "%s/tests/fuzz/cfi", source_dir ? source_dir : ".");
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (argc == 1)
		run_path(corpus);
	printf("1..1\n%s 1 - %u inputs\n", n_inputs ? "ok" : "not ok", n_inputs);
	return n_inputs == 0;
}
#endif
