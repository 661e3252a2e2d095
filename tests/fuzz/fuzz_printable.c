/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as foreign text. What is shown is valid UTF-8 for libc, holds nothing that
 * controls a terminal, and is the input where that was harmless; a field can be turned back into
 * the input. As LLVMFuzzerTestOneInput for libFuzzer (-DFUZZ_ENGINE); else a program that tries
 * bytes of its own and mutants of files: fuzz_printable [-n MUTANTS] FILE...
 */
#include "common/base/foreign.h"
#include "common/safe/printable.h"
#include "tests/fuzz/mutate.h"

#include <locale.h>
#include <wchar.h>
#include <wctype.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* libc judges: no control, no separator of lines, none of those that change the direction. */
static void check_clean(const char *s, size_t n)
{
	mbstate_t state = {0};
	for (size_t at = 0, step; at < n; at += step) {
		wchar_t c;
		step = mbrtowc(&c, s + at, n - at, &state);
		if (step == 0 || step > n - at || iswcntrl((wint_t)c))
			abort();
		if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
		    c == 0x200f || c == 0x61c)
			abort();
	}
}

static size_t turn_back(const char *s, size_t n, char *to)
{
	size_t used = 0;
	for (size_t i = 0; i < n; i++) {
		if (s[i] != '\\') {
			to[used++] = s[i];
			continue;
		}
		if (++i == n)
			abort();
		char hex[3] = "";
		switch (s[i]) {
		case 't': to[used++] = '\t'; break;
		case 'n': to[used++] = '\n'; break;
		case '\\': to[used++] = '\\'; break;
		case 'x':
			if (n - i < 3)
				abort();
			memcpy(hex, s + i + 1, 2);
			to[used++] = (char)strtoul(hex, NULL, 16);
			i += 2;
			break;
		default: abort();
		}
	}
	return used;
}

#ifdef FUZZ_ENGINE
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	return setlocale(LC_ALL, "C.UTF-8") ? 0 : 1;
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *input = malloc(n + 1), *back = malloc(n + 1), *shown = NULL, *field = NULL;
	size_t n_shown, n_field;
	FILE *out = open_memstream(&shown, &n_shown), *fields = open_memstream(&field, &n_field);
	if (!input || !back || !out || !fields)
		abort();
	memcpy(input, data, n);
	input[n] = '\0';
	n = strlen(input);
	foreign_put(out, input);
	foreign_put_field(fields, input);
	fclose(out);
	fclose(fields);
	check_clean(shown, n_shown);
	check_clean(field, n_field);
	if (n_shown > n || turn_back(field, n_field, back) != n || memcmp(back, input, n) != 0)
		abort();
	printable(input);
	if (strcmp(input, shown) != 0)
		abort();
	free(input);
	free(back);
	free(shown);
	free(field);
	return 0;
}

#ifndef FUZZ_ENGINE
/* Pieces of characters of all lengths, whole, cut and overlong. */
static void try_own(unsigned long n_texts)
{
	static const uint8_t odd[] = {0x1b, 0x0a, 0x5c, 0x7f, 0x80, 0x85, 0x9b,
				      0xa8, 0xae, 0xc0, 0xc1, 0xc2, 0xe0, 0xe2,
				      0xed, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff};
	uint64_t state = mutate_seed(0);
	for (unsigned long k = 0; k < n_texts; k++) {
		uint8_t text[40];
		size_t n = mutate_random(&state) % sizeof text;
		for (size_t i = 0; i < n; i++)
			text[i] = mutate_random(&state) % 3
					  ? odd[mutate_random(&state) % sizeof odd]
					  : (uint8_t)mutate_random(&state);
		LLVMFuzzerTestOneInput(text, n);
	}
	for (uint32_t c = 1; c < 0x10000; c++) { /* all of two bytes */
		const uint8_t pair[] = {(uint8_t)(c >> 8), (uint8_t)c, 'x'};
		LLVMFuzzerTestOneInput(pair, sizeof pair);
	}
}

int main(int argc, char **argv)
{
	int n_files;
	if (!setlocale(LC_ALL, "C.UTF-8")) {
		puts("1..0 # SKIP no locale C.UTF-8");
		return 0;
	}
	try_own(20000);
	mutate_files(&(struct mutate_target){.one = LLVMFuzzerTestOneInput}, argc, argv, &n_files);
	puts("1..1\nok 1 - what is shown is clean");
	return 0;
}
#endif
