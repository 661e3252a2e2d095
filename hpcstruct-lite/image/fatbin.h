/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVIDIA's fat binaries: GPU code of several architectures and forms in one block, as nvcc puts it into the sections .nv_fatbin and __nv_relfatbin of host code. They are found by their
 * mark and header wherever they lie, so that programs, libraries, objects and archives of them need no reading of their own. doc/structures.md has the layout. Pure
 * functions on bytes; safe on any. Test: tests/unit/test_fatbin.c, tests/cli/struct_fatbin.sh.
 */
#ifndef HPCSTRUCT_IMAGE_FATBIN_H
#define HPCSTRUCT_IMAGE_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fatbin_form { FATBIN_CUBIN, FATBIN_PTX, FATBIN_OTHER /* intermediate code for link-time optimisation, and what comes */ };
enum fatbin_packing { FATBIN_PLAIN, FATBIN_LZ4, FATBIN_ZSTD };

struct fatbin_entry {
	enum fatbin_form form;
	enum fatbin_packing packing;
	unsigned architecture; /* 90 for sm_90 */
	const uint8_t *bytes;  /* as stored */
	size_t n_bytes;
	uint64_t full_bytes;   /* unpacked */
	uint64_t offset;       /* of its header in the file */
};

/* Where a search is. Zero-initialise to start. */
struct fatbin_search {
	size_t at;             /* next byte to look at */
	size_t end;            /* of the fat binary that `at` is in; 0: in none */
	unsigned n_damaged;    /* fat binaries that were left before their end */
};
/* The next entry in bytes[0 .. n_bytes). False: there are no more. */
bool fatbin_next(const uint8_t *bytes, size_t n_bytes, struct fatbin_search *search, struct fatbin_entry *entry);

enum fatbin_result { FATBIN_OK, FATBIN_DAMAGED, FATBIN_NO_MEMORY, FATBIN_NO_UNPACKER /* built without the library */ };
/* Unpacks an entry of any packing into memory of full_bytes that the caller frees. */
enum fatbin_result fatbin_unpack(const struct fatbin_entry *entry, uint8_t **bytes);

#endif
