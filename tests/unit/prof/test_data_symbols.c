/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/load/data_symbols.c and code_symbols.c on an image of a few symbols: names,
 * source files and places in larger data, functions around addresses, and that no damaged image is
 * read beyond its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/format/structure.h"
#include "hpcprof-lite/load/code_symbols.h"
#include "hpcprof-lite/load/data_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char strings[] = "\0work.c\0queue_lock\0table\0_ZN2ns4lockE\0outer";
enum { WORK = 1, QUEUE_LOCK = 8, TABLE = 19, NS_LOCK = 25, OUTER = 38 };

static struct image {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[8];
	char strings[sizeof strings];
} image;

static Elf64_Sym symbol(uint32_t name, unsigned bind, unsigned type, uint64_t at, uint64_t n)
{
	return (Elf64_Sym){.st_name = name,
			   .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
			   .st_shndx = 1,
			   .st_value = at,
			   .st_size = n};
}

static int set_up(void **state)
{
	(void)state;
	memset(&image, 0, sizeof image);
	memcpy(image.head.e_ident, ELFMAG, SELFMAG);
	image.head.e_ident[EI_CLASS] = ELFCLASS64;
	image.head.e_shoff = offsetof(struct image, sections);
	image.head.e_shnum = 3;
	image.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					 .sh_offset = offsetof(struct image, symbols),
					 .sh_size = sizeof image.symbols,
					 .sh_link = 2};
	image.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
					 .sh_offset = offsetof(struct image, strings),
					 .sh_size = sizeof strings};
	image.symbols[1] = symbol(WORK, STB_LOCAL, STT_FILE, 0, 0);
	image.symbols[2] = symbol(QUEUE_LOCK, STB_LOCAL, STT_OBJECT, 0x4000, 40);
	image.symbols[3] = symbol(TABLE, STB_LOCAL, STT_OBJECT, 0x4100, 4096);
	image.symbols[4] = symbol(NS_LOCK, STB_GLOBAL, STT_OBJECT, 0x4180, 40);
	image.symbols[5] = symbol(OUTER, STB_LOCAL, STT_FUNC, 0x1000, 0x100);
	image.symbols[6] = symbol(WORK, STB_GLOBAL, STT_FUNC, 0x1040, 0x20);
	image.symbols[7] = symbol(NS_LOCK, STB_GLOBAL, STT_FUNC, 0x2000, 0x10);
	memcpy(image.strings, strings, sizeof strings);
	return 0;
}

/* Of a copy that ends where the file does. Returns "" for no name. */
static const char *name_in(size_t n_bytes, uint64_t addr)
{
	static char text[256];
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
	memcpy(copy, &image, n_bytes);
	char *name = data_symbol_name(copy, n_bytes, addr);
	text[0] = '\0';
	if (name)
		strncpy(text, name, sizeof text - 1);
	free(name);
	free(copy);
	return text;
}

static const char *name_of(uint64_t addr)
{
	return name_in(sizeof image, addr);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(name_of(0x4000), "queue_lock (work.c)");
	assert_string_equal(name_of(0x4008), "queue_lock (work.c)"); /* a word of the lock */
	assert_string_equal(name_of(0x4028), "");
	assert_string_equal(name_of(0x3fff), "");
	assert_string_equal(name_of(0x4140), "table+0x40 (work.c)");
	const char *name = name_of(0x4180); /* inside the table, but smaller; global */
	assert_true(!strcmp(name, "ns::lock") || !strcmp(name, "_ZN2ns4lockE"));
	image.sections[1].sh_type = SHT_DYNSYM;
	assert_string_equal(name_of(0x4000), "queue_lock (work.c)");
	image.symbols[2].st_shndx = SHN_UNDEF;
	assert_string_equal(name_of(0x4000), "");
}

static void test_damage(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof image; n++)
		name_in(n, 0x4000);
	assert_string_equal(name_in(offsetof(struct image, symbols), 0x4000), "");
	image.sections[1].sh_offset = UINT64_MAX - 8;
	assert_string_equal(name_of(0x4000), "");
	set_up(state);
	image.sections[1].sh_link = 7;
	assert_string_equal(name_of(0x4000), "");
	set_up(state);
	image.symbols[2].st_name = UINT32_MAX;
	assert_string_equal(name_of(0x4000), "");
	set_up(state);
	image.sections[2].sh_size = QUEUE_LOCK + 3; /* the name has no end */
	assert_string_equal(name_of(0x4000), "");
	set_up(state);
	image.head.e_shoff = UINT64_MAX;
	assert_string_equal(name_of(0x4000), "");
	set_up(state);
	image.head.e_ident[EI_CLASS] = ELFCLASS32;
	assert_string_equal(name_of(0x4000), "");
}

/* The structure of the functions around `addrs`, of a copy that ends where the file does. */
static struct structure *structure_in(size_t n_bytes, const uint64_t *addrs, size_t n,
				      uint8_t **bytes)
{
	struct structure *s = NULL;
	size_t n_structure;
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
	memcpy(copy, &image, n_bytes);
	*bytes = code_symbols_make(copy, n_bytes, addrs, n, &n_structure);
	free(copy);
	assert_non_null(*bytes);
	assert_int_equal(structure_open("symbols", *bytes, n_structure, &s), STATUS_OK);
	return s;
}

/* The name of the function at an address; "" if there is none. */
static const char *function_at(const struct structure *s, uint64_t addr)
{
	struct structure_place place;
	if (!structure_lookup(s, addr, &place) || place.scope == STRUCTURE_NONE)
		return "";
	return structure_get_scope(s, place.scope).name;
}

static void test_functions(void **state)
{
	static const uint64_t addrs[] = {0x0fff, 0x1010, 0x1010, 0x1050, 0x1060, 0x2008, 0x4008};
	uint8_t *bytes;
	struct structure *s =
		structure_in(sizeof image, addrs, sizeof addrs / sizeof *addrs, &bytes);
	(void)state;
	assert_string_equal(function_at(s, 0x0fff), "");
	assert_string_equal(function_at(s, 0x1010), "outer");
	assert_string_equal(function_at(s, 0x1050), "work.c"); /* inside of the other one */
	const char *name = function_at(s, 0x2008);
	assert_true(!strcmp(name, "ns::lock") || !strcmp(name, "_ZN2ns4lockE"));
	assert_string_equal(function_at(s, 0x4008), ""); /* data */
	assert_int_equal(structure_n_scopes(s), 3);
	structure_close(s);
	free(bytes);
	s = structure_in(sizeof image, NULL, 0, &bytes);
	assert_int_equal(structure_n_scopes(s), 0);
	structure_close(s);
	free(bytes);
}

static void test_damaged_functions(void **state)
{
	static const uint64_t addrs[] = {0x1010, 0x1050, UINT64_MAX};
	uint8_t *bytes;
	(void)state;
	for (size_t n = 0; n < sizeof image; n++) {
		structure_close(structure_in(n, addrs, 3, &bytes));
		free(bytes);
	}
	image.symbols[5].st_size = UINT64_MAX;
	image.symbols[6].st_value = UINT64_MAX - 4;
	image.symbols[7].st_name = UINT32_MAX;
	structure_close(structure_in(sizeof image, addrs, 3, &bytes));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, set_up),
		cmocka_unit_test_setup(test_damage, set_up),
		cmocka_unit_test_setup(test_functions, set_up),
		cmocka_unit_test_setup(test_damaged_functions, set_up),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
