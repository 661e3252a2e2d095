/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gen_names DIR NAMES: structures in DIR/structs that know the names of a few addresses, for
 * measurements of libraries that are too large to keep. NAMES has lines "module BUILD-ID PATH", and
 * below them "ADDRESS NAME", both numbers in hexadecimal, by rising address. All other addresses
 * are in no known code. For tests/cli/python/python_torch.sh.
 */
#include "tests/gen/gen_structure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 8192, MOST_NAMES = 1024, ID_BYTES = 32 };

static char *names[MOST_NAMES];
static uint32_t definitions[MOST_NAMES], n_names;

static void fail(const char *what, const char *line)
{
	fprintf(stderr, "gen_names: %s: %s\n", what, line);
	exit(1);
}

/* One definition for all addresses of a function. */
static uint32_t find_definition(struct gen_structure *s, const char *name)
{
	for (uint32_t i = 0; i < n_names; i++)
		if (strcmp(names[i], name) == 0)
			return definitions[i];
	if (n_names == MOST_NAMES || !(names[n_names] = strdup(name)))
		fail("too many names", name);
	definitions[n_names] = gen_structure_definition(s, name, STRUCTURE_NONE, 0);
	return definitions[n_names++];
}

static void close_structure(struct gen_structure *s, const char *directory)
{
	if (s)
		free(gen_structure_close(s, directory));
	while (n_names)
		free(names[--n_names]);
}

static struct gen_structure *begin_module(const char *line)
{
	uint8_t id[ID_BYTES];
	size_t n = 0;
	unsigned byte;
	for (; n < ID_BYTES && sscanf(line, "%2x", &byte) == 1; line += 2)
		id[n++] = (uint8_t)byte;
	if (!n || *line != ' ')
		fail("not a module", line);
	return gen_structure_new(line + 1, id, n);
}

static void add_name(struct gen_structure *s, const char *line)
{
	char *name;
	const uint64_t at = strtoull(line, &name, 16);
	if (!s || *name != ' ')
		fail("not a name", line);
	const uint32_t definition = find_definition(s, name + 1);
	gen_structure_interval(s, at, gen_structure_function(s, definition, at), STRUCTURE_NONE, 0);
	gen_structure_interval(s, at + 1, STRUCTURE_NONE, STRUCTURE_NONE, 0);
}

int main(int argc, char **argv)
{
	static const char module[] = "module ";
	char line[LINE_BYTES];
	struct gen_structure *s = NULL;
	FILE *in = argc == 3 ? fopen(argv[2], "r") : NULL;
	if (!in)
		fail("usage", "gen_names DIR NAMES");
	while (fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, module, sizeof module - 1) == 0) {
			close_structure(s, argv[1]);
			s = begin_module(line + sizeof module - 1);
		} else {
			add_name(s, line);
		}
	}
	close_structure(s, argv[1]);
	fclose(in);
	return 0;
}
