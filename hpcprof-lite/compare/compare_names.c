/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_names.h. Test: tests/unit/compare/test_compare_names.c. */
#include "hpcprof-lite/compare/compare_names.h"

#include "hpcprof-lite/model/model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char compare_unnamed[] = "<unnamed functions>";
static const char unknown[] = "<unknown function>", at_address[] = "<unknown at 0x";

static const char digits[] = "0123456789", version[] = "0123456789.";

/* The number of characters of `set` at the end of s[0 .. n-1]. */
static size_t tail_of(const char *s, size_t n, const char *set)
{
	size_t tail = 0;
	while (tail < n && strchr(set, s[n - 1 - tail]))
		tail++;
	return tail;
}

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t n_end = strlen(end);
	return n > n_end && memcmp(s + n - n_end, end, n_end) == 0;
}

/* The length of s[0 .. n-1] without one suffix ".constprop.0" or ".cold"; n if it has none. */
static size_t without_clone(const char *s, size_t n)
{
	static const char *const words[] = {".constprop", ".isra",     ".part",      ".cold",
					    ".llvm",      ".lto_priv", ".localalias"};
	size_t number = tail_of(s, n, digits), at = n;
	if (number && number < n && s[n - number - 1] == '.')
		at = n - number - 1;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (ends_with(s, at, words[i]))
			return at - strlen(words[i]);
	return n;
}

/* The same for " [clone .isra.0]", as demanglers write it. */
static size_t without_bracket(const char *s, size_t n)
{
	static const char word[] = " [clone .";
	if (!n || s[n - 1] != ']')
		return n;
	for (size_t i = n - 1; i > 0; i--)
		if (i + sizeof word - 1 < n && memcmp(s + i, word, sizeof word - 1) == 0)
			return i;
	return n;
}

static size_t without_rust_hash(const char *s, size_t n)
{
	enum { HASH = 16, SUFFIX = HASH + 3 };
	if (n > SUFFIX && tail_of(s, n, "0123456789abcdef") == HASH &&
	    memcmp(s + n - SUFFIX, "::h", 3) == 0)
		return n - SUFFIX;
	return n;
}

bool compare_is_address(const char *name)
{
	return strncmp(name, at_address, sizeof at_address - 1) == 0;
}

bool compare_is_named_code(const char *name)
{
	return !compare_is_address(name) && strcmp(name, compare_unnamed) != 0;
}

char *compare_function_name(const char *name)
{
	if (!name[0] || strncmp(name, unknown, sizeof unknown - 1) == 0)
		return strdup(compare_unnamed);
	if (compare_is_address(name))
		return strndup(name, strcspn(name, ">") + 1);
	size_t n = strlen(name);
	if (ends_with(name, n, MODEL_GUESSED_SUFFIX))
		n -= strlen(MODEL_GUESSED_SUFFIX);
	for (size_t before = 0; before != n;) {
		before = n;
		n = without_clone(name, without_bracket(name, n));
	}
	return strndup(name, without_rust_hash(name, n));
}

const char *compare_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* The length of s[0 .. n-1] without "-2.36" or "3.12" at its end. A bare digit is no version. */
static size_t without_version(const char *s, size_t n)
{
	size_t tail = tail_of(s, n, version);
	const char *at = s + n - tail;
	if (!tail || tail == n || *at == '.')
		return n;
	if (at[-1] == '-')
		return n - tail > 1 ? n - tail - 1 : n;
	return memchr(at, '.', tail) ? n - tail : n;
}

char *compare_module_name(const char *path)
{
	static const char so[] = ".so";
	const char *base = compare_base_name(path), *end = strstr(base, so);
	while (end && end[sizeof so - 1] && end[sizeof so - 1] != '.')
		end = strstr(end + 1, so);
	size_t n = without_version(base, end ? (size_t)(end - base) : strlen(base));
	char *name = malloc(n + sizeof so);
	if (!name)
		return NULL;
	memcpy(name, base, n);
	strcpy(name + n, end ? so : "");
	return name;
}

bool compare_is_named(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);
	if (strncmp(name, wanted, n) != 0)
		return false;
	return !name[n] || name[n] == '(' || name[n] == '<';
}
