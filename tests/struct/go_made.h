/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Go program's table of functions, made up, with what an image needs around it: three functions,
 * one with two calls inlined into each other. In the layout of Go 1.18 or of Go 1.20. For the unit
 * test and the fuzz target.
 */
#ifndef TESTS_STRUCT_GO_MADE_H
#define TESTS_STRUCT_GO_MADE_H

#include "hpcstruct-lite/image/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GO_TEXT = 0x401000, GO_TABLE = 0x500000, GO_DATA = 0x600000, GO_TABLE_BYTES = 1024,
	GO_CALLS = 768 };

struct go_made {
	uint8_t table[GO_TABLE_BYTES];
	uint8_t text[4096];
	uint64_t data[64]; /* moduledata at its start */
	struct image image;
};

static inline void go_put32(uint8_t *to, size_t at, uint32_t v)
{
	memcpy(to + at, &v, sizeof v);
}

static inline void go_put64(uint8_t *to, size_t at, uint64_t v)
{
	memcpy(to + at, &v, sizeof v);
}

/* The function's record at `at`, of 0x100 bytes of code from `entry` on. */
static inline void go_put_function(uint8_t *pcln, bool is_1_20, unsigned i, uint32_t at,
	uint32_t name, uint32_t file, uint32_t line, uint32_t call)
{
	uint32_t fixed = is_1_20 ? 44 : 40;
	go_put32(pcln, i * 8, i * 0x100);
	go_put32(pcln, i * 8 + 4, at);
	go_put32(pcln, at, i * 0x100);
	go_put32(pcln, at + 4, name);
	go_put32(pcln, at + 20, file);
	go_put32(pcln, at + 24, line);
	go_put32(pcln, at + 28, 3);
	go_put32(pcln, at + 32, 0); /* unit */
	if (is_1_20)
		go_put32(pcln, at + 36, 7); /* first line */
	pcln[at + fixed - 1] = 4;
	go_put32(pcln, at + fixed + 8, call);
	go_put32(pcln, at + fixed + 12 + 12, call ? 0 : UINT32_MAX);
}

/*
 * GO_TABLE_BYTES: header, names at 72, units at 112, files at 128, values by pc at 192, functions
 * at 256, tree of calls at 768.
 */
static inline void go_make_table(uint8_t *t, bool is_1_20)
{
	static const char names[] = "\0main.f\0main.g\0main.h\0main.inner",
			  files[] = "\0/a.go\0/b.go";
	/* pairs of (zigzag value difference, distance); offset 0 is none */
	static const uint8_t values[] = {
		0,
		/* 1: file 0 all along */ 2,
		0x80,
		2,
		0,
		/* 5: line 10, from 0x40 line 20, from 0x80 line 30, from 0xc0 line 10 */ 22,
		0x40,
		20,
		0x40,
		20,
		0x40,
		39,
		0x40,
		0,
		/* 14: file 0, from 0x80 file 1, from 0xc0 file 0 */ 2,
		0x80,
		1,
		2,
		0x40,
		1,
		0x40,
		0,
		/* 22: no call, from 0x40 call 0, from 0x80 call 1, from 0xc0 none */ 0,
		0x40,
		2,
		0x40,
		2,
		0x40,
		3,
		0x40,
		0};
	memset(t, 0, GO_TABLE_BYTES);
	go_put32(t, 0, is_1_20 ? 0xfffffff1 : 0xfffffff0);
	t[6] = 1;
	t[7] = 8;
	go_put64(t, 8, 3);
	go_put64(t, 16, 2);
	go_put64(t, 24, GO_TEXT);
	for (unsigned i = 0; i < 5; i++)
		go_put64(t, 32 + 8 * i, (const uint64_t[]){72, 112, 128, 192, 256}[i]);
	memcpy(t + 72, names, sizeof names);
	go_put32(t, 112, 1);
	go_put32(t, 116, 7);
	memcpy(t + 128, files, sizeof files);
	memcpy(t + 192, values, sizeof values);
	go_put_function(t + 256, is_1_20, 0, 64, 1, 1, 5, 0);
	go_put_function(t + 256, is_1_20, 1, 192, 8, 14, 5, 22);
	go_put_function(t + 256, is_1_20, 2, 320, 15, 1, 5, 0);
	go_put32(t, 256 + 3 * 8, 0x300); /* where the last one ends */
	/*
	 * call 0 is main.h, called at 0x3f, in main.g; call 1 is main.inner, called at 0x7f, in
	 * call 0
	 */
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *call = t + GO_CALLS + i * (is_1_20 ? 16 : 20);
		go_put32(call, is_1_20 ? 4 : 12, i ? 22 : 15);
		go_put32(call, is_1_20 ? 8 : 16, i ? 0x7f : 0x3f);
	}
}

static inline void go_add_section(struct image *image, const char *name, uint64_t flags,
	uint64_t link_addr, const uint8_t *bytes, size_t n)
{
	*vec_push(&image->sections) = (struct image_section){.name = name, .type = SHT_PROGBITS,
		.flags = SHF_ALLOC | flags, .link_addr = link_addr,
		.n_bytes = n, .bytes = bytes};
}

/*
 * An image with `n_bytes` bytes as the table; the caller keeps them. Tells the tree's place by
 * moduledata.
 */
static inline void go_make_image(struct go_made *m, const uint8_t *bytes, size_t n_bytes,
	bool is_1_20)
{
	memset(&m->image, 0, sizeof m->image);
	memset(m->data, 0, sizeof m->data);
	m->image.path = "made";
	m->image.machine = EM_X86_64;
	m->data[0] = GO_TABLE;
	for (unsigned i = 0; i < 3 && n_bytes >= 72; i++) { /* names, units, files */
		memcpy(&m->data[1 + 3 * i], bytes + 32 + 8 * i, 8);
		m->data[1 + 3 * i] += GO_TABLE;
	}
	m->data[is_1_20 ? 40 : 38] = GO_TABLE + GO_CALLS;
	go_add_section(&m->image, ".text", SHF_EXECINSTR, GO_TEXT, m->text, sizeof m->text);
	go_add_section(&m->image, ".gopclntab", 0, GO_TABLE, bytes, n_bytes);
	go_add_section(&m->image, ".data", SHF_WRITE, GO_DATA, (const uint8_t *)m->data,
		sizeof m->data);
	*vec_push(&m->image.code) =
		(struct image_region){.start = GO_TEXT, .n_bytes = sizeof m->text};
}

static inline void go_free_image(struct go_made *m)
{
	vec_free(&m->image.sections);
	vec_free(&m->image.code);
}

#endif
