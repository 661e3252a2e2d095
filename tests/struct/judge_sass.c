/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the registers and operations that sass_decode() finds with nvdisasm's text:
 *
 *	judge_sass CUBIN LISTING
 *
 * LISTING has a line ".text.NAME" for each section, then "OFFSET TEXT" for each instruction, as
 * tests/golden/cubin/make-sass.sh makes it. Prints what differs, then a summary. Exits with 1 if
 * anything differs or nothing was compared.
 */
#include "hpcstruct-lite/image/image.h"
#include "hpcstruct-lite/isa/sass.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 512, MAX_SHOWN = 20 };

/* The operations of mnemonics: text before the first dot or blank. */
static const struct {
	const char *name;
	enum structure_operation operation;
} mnemonics[] = {
	{"LDG", STRUCTURE_GLOBAL_LOAD},     {"STG", STRUCTURE_GLOBAL_STORE},
	{"RED", STRUCTURE_GLOBAL_ATOMIC},   {"ATOMG", STRUCTURE_GLOBAL_ATOMIC},
	{"REDG", STRUCTURE_GLOBAL_ATOMIC},  {"LDL", STRUCTURE_LOCAL_LOAD},
	{"STL", STRUCTURE_LOCAL_STORE},     {"LDS", STRUCTURE_SHARED_LOAD},
	{"LDSM", STRUCTURE_SHARED_LOAD},    {"STS", STRUCTURE_SHARED_STORE},
	{"ATOMS", STRUCTURE_SHARED_ATOMIC}, {"LD", STRUCTURE_GENERIC_LOAD},
	{"ST", STRUCTURE_GENERIC_STORE},    {"ATOM", STRUCTURE_GENERIC_ATOMIC},
	{"LDC", STRUCTURE_CONSTANT_LOAD},   {"ULDC", STRUCTURE_CONSTANT_LOAD},
	{"TEX", STRUCTURE_TEXTURE},         {"TLD", STRUCTURE_TEXTURE},
	{"TLD4", STRUCTURE_TEXTURE},        {"SULD", STRUCTURE_SURFACE},
	{"SUST", STRUCTURE_SURFACE},        {"LDGSTS", STRUCTURE_ASYNC_COPY},
	{"MUFU", STRUCTURE_MUFU},           {"F2F", STRUCTURE_CONVERSION},
	{"F2I", STRUCTURE_CONVERSION},      {"I2F", STRUCTURE_CONVERSION},
	{"POPC", STRUCTURE_CONVERSION},     {"S2R", STRUCTURE_SPECIAL},
	{"S2UR", STRUCTURE_SPECIAL},        {"CS2R", STRUCTURE_SPECIAL},
	{"HMMA", STRUCTURE_TENSOR},         {"IMMA", STRUCTURE_TENSOR},
	{"DMMA", STRUCTURE_TENSOR},         {"DFMA", STRUCTURE_DOUBLE},
	{"DADD", STRUCTURE_DOUBLE},         {"DMUL", STRUCTURE_DOUBLE},
	{"SHFL", STRUCTURE_SHUFFLE},        {"MATCH", STRUCTURE_SHUFFLE},
	{"BAR", STRUCTURE_BARRIER},         {"WARPSYNC", STRUCTURE_BARRIER},
	{"MEMBAR", STRUCTURE_FENCE},        {"BRA", STRUCTURE_BRANCH},
	{"EXIT", STRUCTURE_BRANCH},         {"CALL", STRUCTURE_CALL},
	{"R2UR", STRUCTURE_UNIFORM},        {"FFMA", STRUCTURE_ARITHMETIC},
	{"IMAD", STRUCTURE_ARITHMETIC},     {"ISETP", STRUCTURE_ARITHMETIC},
};

/* What the words behind the mnemonic make of its operation. */
static enum structure_operation modified(const char *name, enum structure_operation o)
{
	char word[64];
	const size_t n = strcspn(name, " ");
	snprintf(word, sizeof word, "%.*s.", (int)n, name);
	if ((o == STRUCTURE_GLOBAL_LOAD || o == STRUCTURE_GENERIC_LOAD) &&
	    strstr(word, ".STRONG.SYS."))
		return STRUCTURE_STRONG_LOAD;
	return strncmp(word, "I2F.", 4) == 0 && strstr(word, ".RP.") ? STRUCTURE_DIVISION : o;
}

static unsigned long n_compared, n_different;

static void complain(const char *section, unsigned offset, const char *text, const char *what)
{
	if (n_different++ < MAX_SHOWN)
		printf("%s 0x%x: %s: %s\n", section, offset, text, what);
}

/* Sets a bit for each register that the text names. */
static void parse(const char *text, size_t n_bytes, bool *named)
{
	for (const char *p = text; p < text + n_bytes; p++) {
		unsigned base, most;
		if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_'))
			continue;
		bool is_warp = *p == 'U' && (p[1] == 'R' || p[1] == 'P');
		const char *q = p + is_warp;
		if ((*q != 'R' && *q != 'P') || !isdigit((unsigned char)q[1]))
			continue;
		base = *q == 'R' ? (is_warp ? SASS_UR : SASS_R) : is_warp ? SASS_UP : SASS_P;
		most = *q == 'R' ? 255 : 8;
		unsigned long n = strtoul(q + 1, NULL, 10);
		if (n < most)
			named[base + n] = true;
	}
}

static void mark(const struct sass_registers *r, unsigned n, bool *all, bool *first)
{
	for (unsigned i = 0; i < n; i++) {
		first[r[i].first] = true;
		for (unsigned k = 0; k < r[i].n && r[i].first + k < SASS_N_REGISTERS; k++)
			all[r[i].first + k] = true;
	}
}

/* Every register in the text is one of ours, and the first of each of ours is in the text. Some
 * predicates that carry over are not decoded. */
static void compare(const char *section, unsigned offset, const uint8_t *bytes, const char *text)
{
	struct sass_instruction s;
	bool named[SASS_N_REGISTERS], all[SASS_N_REGISTERS] = {false},
				      first[SASS_N_REGISTERS] = {false};
	sass_decode(bytes, &s);
	const char *name = *text == '@' ? strchr(text, ' ') : text;
	name = !name ? text : *name == ' ' ? name + 1 : name;
	size_t n = strcspn(name, ". ;");
	memset(named, 0, sizeof named);
	if (name > text)
		parse(text, (size_t)(name - text), named);
	parse(name + n, strlen(name + n), named);
	mark(s.reads, s.n_reads, all, first);
	mark(s.writes, s.n_writes, all, first);
	n_compared++;
	for (unsigned i = 0; i < SASS_N_REGISTERS; i++) {
		/* for sm_75 and sm_80 nvdisasm does not say which registers the descriptor is in */
		bool is_hidden = i >= SASS_UR && i < SASS_P && strchr(text, '[');
		if (first[i] && !named[i] && !is_hidden) {
			complain(section, offset, text, "a register that the text has not");
			return;
		}
		/* the handles of textures and surfaces are not decoded */
		bool is_handle = i >= SASS_UR && (s.operation == STRUCTURE_TEXTURE ||
						  s.operation == STRUCTURE_SURFACE);
		if (named[i] && !all[i] && i < SASS_P && !is_handle) {
			complain(section, offset, text, "a register is missing");
			return;
		}
	}
	for (size_t i = 0; i < sizeof mnemonics / sizeof mnemonics[0]; i++)
		if (strlen(mnemonics[i].name) == n && strncmp(mnemonics[i].name, name, n) == 0 &&
		    s.operation != modified(name, mnemonics[i].operation))
			complain(section, offset, text,
				 structure_operation_name((enum structure_operation)s.operation));
}

static const struct image_section *find(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->sections.n; i++)
		if (strcmp(image->sections.at[i].name, name) == 0)
			return &image->sections.at[i];
	return NULL;
}

int main(int argc, char **argv)
{
	struct image *image;
	char line[LINE_BYTES];
	const struct image_section *section = NULL;
	FILE *listing = argc == 3 ? fopen(argv[2], "r") : NULL;
	if (!listing || image_open(argv[1], &image) != STATUS_OK)
		return 2;
	while (fgets(line, sizeof line, listing)) {
		line[strcspn(line, "\n")] = '\0';
		char *text;
		if (line[0] == '.') {
			section = find(image, line);
			continue;
		}
		unsigned long offset = strtoul(line, &text, 16);
		if (section && section->bytes && *text == ' ' &&
		    offset + SASS_BYTES <= section->n_bytes)
			compare(section->name, (unsigned)offset, section->bytes + offset, text + 1);
	}
	printf("# %lu instructions compared, %lu differ\n", n_compared, n_different);
	fclose(listing);
	image_close(image);
	return n_compared == 0 || n_different > 0;
}
