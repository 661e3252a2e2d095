/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads NVIDIA's fat binaries: blocks of GPU code for several architectures and in several forms.
 * nvcc puts them into the sections .nv_fatbin and __nv_relfatbin of host code. The search finds a
 * fat binary by its magic number and header at any place, so it needs no reader of its own for
 * programs, libraries, objects and archives. doc/notes/cubin-lines.md describes the layout. Pure
 * functions on bytes; any bytes are safe. Tests: tests/unit/struct/test_fatbin.c,
 * tests/cli/struct/struct_fatbin.sh.
 */
#ifndef HPCSTRUCT_IMAGE_FATBIN_H
#define HPCSTRUCT_IMAGE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fatbin_form {
	FATBIN_CUBIN,
	FATBIN_PTX,
	FATBIN_OTHER /* code for link-time optimisation, and unknown forms */
};
enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
	enum fatbin_form form;
	enum fatbin_packing packing;
	unsigned architecture; /* 90 for sm_90 */
	const uint8_t *bytes;  /* as stored in the file */
	size_t n_bytes;
	uint64_t full_bytes;   /* size after unpacking */
	uint64_t offset;       /* offset of its header in the file */
};

/* The state of a search. Zero-initialise it to start. */
struct fatbin_search {
	size_t at;             /* next byte to examine */
	size_t end;            /* end of the fat binary that holds `at`; 0: in none */
	unsigned n_damaged;    /* fat binaries that the search left before their end */
};
/* Finds the next entry in bytes[0 .. n_bytes). Returns false when there are no more. */
bool fatbin_next(const uint8_t *bytes, size_t n_bytes, struct fatbin_search *search,
	struct fatbin_entry *entry);

enum fatbin_result {
	FATBIN_OK,
	FATBIN_DAMAGED,
	FATBIN_NO_MEMORY,
	FATBIN_NO_UNPACKER /* built without the library */
};
/* Unpacks an entry of any packing. The caller frees *bytes, which has full_bytes bytes. */
enum fatbin_result fatbin_unpack(const struct fatbin_entry *entry, uint8_t **bytes);

#endif
