/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a binary that ran: as it is now if it is still the same, or as a measurement kept
 * it. Test: as code.h.
 */
#ifndef HPCPROF_LITE_CODE_CODE_BINARY_H
#define HPCPROF_LITE_CODE_CODE_BINARY_H

#include "common/base/mapfile.h"
#include "common/rights/rights.h"
#include "hpcprof-lite/code/code.h"

#include <elf.h>

enum { CODE_EM_CUDA = 190 };

struct code_binary {
	struct mapfile map;
	const Elf64_Ehdr *header; /* of a complete ELF file of 64 bits; its tables are in the map */
	bool is_private;          /* not everyone may read it */
};

/* False: not found, not the same, not for the owners of the measurements, or not ELF. */
bool code_binary_open(const struct model_module *m, const struct rights *owners,
		      const struct code_options *o, struct code_binary *b);
void code_binary_close(struct code_binary *b);

/* The bytes at an address of host code, and how many follow it in the file. NULL: none. */
const uint8_t *code_binary_at(const struct code_binary *b, uint64_t link_addr, size_t *n_bytes);
/*
 * The section of a cubin at a file offset, which is the address of its code (image_cubin.c of
 * hpcstruct-lite), its name, and the index of the symbol at its start; 0: none. NULL: no section.
 */
const Elf64_Shdr *code_binary_section(const struct code_binary *b, uint64_t file_offset,
				      const char **name, uint32_t *symbol);

#endif
