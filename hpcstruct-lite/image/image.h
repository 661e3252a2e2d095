/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The image room: path -> sections, symbols, build id, ranges of code. A kind of file (ELF, OpenCL source) is one entry of the table
 * in image.c. Knows nothing of DWARF beyond the names of its sections. An image is constant after image_open(), so that any thread may read it.
 * Tests: tests/cli/struct_golden.sh, tests/cli/struct_damage.sh.
 */
#ifndef HPCSTRUCT_IMAGE_IMAGE_H
#define HPCSTRUCT_IMAGE_IMAGE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"
#include "common/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_BUILD_ID_MAX 32

enum image_packing { IMAGE_PLAIN, IMAGE_PACKED_ELF, IMAGE_PACKED_GNU };

struct image_section {
	const char *name;      /* ".debug_" also where the file says ".zdebug_" */
	uint32_t type;         /* SHT_* */
	uint64_t flags;        /* SHF_* */
	uint64_t link_addr;    /* 0 when it is not loaded */
	uint64_t n_bytes;
	const uint8_t *bytes;  /* NULL when the file has none (SHT_NOBITS, damage) */
	enum image_packing packed; /* compressed: of use only to image_unpack() */
	uint32_t link, info;
	uint64_t entry_bytes;
	uint64_t file_offset;
};

/* A range of the link-time address space that holds code. */
struct image_region {
	uint64_t start, n_bytes;
	uint32_t position; /* bytes of code in the regions before it, see image_position() */
};

struct image;

/* One kind of file. */
struct image_kind {
	const char *name;
	bool is_source;        /* program text: one region, whose addresses are offsets in the file */
	bool (*recognises)(const char *path, const uint8_t *bytes, size_t n_bytes);
	/* Fills sections, regions and build id. Logs what is wrong with the file. */
	enum status (*load)(struct image *image);
};

struct image {
	const char *path;      /* owned */
	struct mapfile file;
	const struct image_kind *kind;
	uint16_t machine;      /* EM_* */
	uint32_t far_sections; /* index of SHT_SYMTAB_SHNDX, which very many sections need; 0: none */
	bool is_incomplete;    /* part of what tells of the code could not be used; it has been said */
	unsigned architecture; /* of a cubin: 90 for sm_90; else 0 */
	uint64_t entry;        /* link address of the entry point; 0: none */
	bool is_cubin;         /* NVIDIA's GPU code; a link address is the offset in the file, see image_cubin.c */
	VEC(struct image_section) sections; /* index 0 is the empty one */
	VEC(struct image_region) regions;   /* rising; close ones are joined */
	VEC(struct image_region) code;      /* executable sections, rising; position is unused */
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_bytes;
	VEC(uint8_t *) unpacked; /* memory of decompressed sections */
	void *handle;          /* the kind's own */
};

/*
 * False when image_open() is worth a try. True when a file is in a form that this program does not look into: *form is "SPIR-V", "PTX text", ..., or NULL when it is not
 * known. Looks at the first bytes alone.
 */
bool image_is_foreign(const char *path, const uint8_t *bytes, size_t n_bytes, const char **form);
/* STATUS_NOT_FOUND is logged too. On success *image is owned by the caller. */
enum status image_open(const char *path, struct image **image);
void image_close(struct image *image);

/*
 * Decompresses the sections named in `names`, ended by NULL, with up to n_workers threads. One that cannot be is said, and is left without contents. To be called
 * before the image is shared.
 */
void image_unpack(struct image *image, const char *const *names, unsigned n_workers);

/* The section of that name which has contents that are not compressed, or NULL. */
const struct image_section *image_find(const struct image *image, const char *name);

/*
 * Regions lie end to end in a space of 32 bits: the position of an address. It rises with the address, and makes records half as large. False when the address is in no
 * region. The end of a region is a position too, that of the next one's start: image_position_end() takes an exclusive end.
 */
bool image_position(const struct image *image, uint64_t link_addr, uint32_t *position);
bool image_position_end(const struct image *image, uint64_t end_addr, uint32_t *position);
uint64_t image_address(const struct image *image, uint32_t position);
/* Positions run from 0 to this, exclusive. */
uint32_t image_n_positions(const struct image *image);
/* The executable section that holds the address, one of image->code, or NULL. */
const struct image_region *image_code_at(const struct image *image, uint64_t link_addr);
/* True when an executable section holds the address. */
bool image_is_code(const struct image *image, uint64_t link_addr);

enum image_symbol_table { IMAGE_SYMTAB, IMAGE_DYNSYM };

struct image_symbol {
	uint64_t link_addr, n_bytes; /* n_bytes 0: not said */
	const char *name;      /* not ended by NUL: the symbol version is left off */
	uint32_t name_bytes;
	uint32_t source;       /* number of the source file (STT_FILE) that a local symbol belongs to; 0: none */
	uint8_t type, bind;    /* STT_*, STB_* */
	uint8_t other;         /* st_other */
	uint8_t table;         /* enum image_symbol_table */
};
struct image_symbols {
	struct image_symbol *at;
	size_t n, capacity;
};

/* The section of the symbol at `index` of a table, st_shndx being what the symbol says; 0: none. Files with very many sections keep it elsewhere. */
uint32_t image_symbol_section(const struct image *image, const struct image_section *table, uint64_t index, uint16_t st_shndx);
/*
 * The symbol table that the relocations or notes of a section refer to: the one that its header
 * names. Where that is no symbol table, it is the only one of the file: nvcc 12.0 names the wrong
 * section.
 * NULL when there is none, or several.
 */
const struct image_section *image_linked_symbols(
	const struct image *image, const struct image_section *s);
/* Appends the symbols that lie in code, in the order of the file. Damaged tables are said and used as far as they are sound. */
enum status image_read_symbols(const struct image *image, struct image_symbols *symbols);

/* A stub of the procedure linkage table. */
struct image_stub {
	uint64_t link_addr, n_bytes;
	const char *target;    /* name of the function it goes to, borrowed; NULL: found by `target_addr` (IFUNC) or not known (0) */
	uint32_t target_bytes;
	uint64_t target_addr;
	bool is_resolver;      /* the first one, which calls the dynamic linker */
};
struct image_stubs {
	struct image_stub *at;
	size_t n, capacity;
};
/* Appends the stubs of .plt, .plt.sec, .plt.got and .iplt; none on machines it does not know (x86-64 only). */
enum status image_read_stubs(const struct image *image, struct image_stubs *stubs);

/*
 * The link address of `main`, as the start-up code at the entry point passes it to __libc_start_main. False: there is no
 * entry point, its code is not glibc's _start, or main is in another object. x86-64 only.
 */
bool image_find_main(const struct image *image, uint64_t *link_addr);

/*
 * What the 8-byte word at a link address holds in the program that runs, less the load bias: from its relocation, else from
 * the file. False: an address in another object, or not known. Every call looks through all relocations.
 */
bool image_word_at(const struct image *image, uint64_t link_addr, uint64_t *value);

/* Ranges that .eh_frame describes, in the order of the file: about one for each function or part of one. */
struct image_range {
	uint64_t start, end;
};
struct image_ranges {
	struct image_range *at;
	size_t n, capacity;
};
enum status image_read_frames(const struct image *image, struct image_ranges *ranges);

/*
 * Separate debug files are looked for below `dirs`, ended by NULL, as in {"/usr/lib/debug", NULL}. Finds the file with the debug information of `image`: by build id, then by .gnu_debuglink. Checks that it belongs: build id, else CRC. *found is NULL when
 * there is none; what was found but does not belong is said. Owned by the caller.
 */
void image_find_debug(const struct image *image, const char *const *dirs, struct image **found);
/* The same for the shared part that dwz(1) splits off (.gnu_debugaltlink of `image`). *missing is set when the image wants one and it is not there. */
void image_find_alternate(const struct image *image, const char *const *dirs, struct image **found, bool *missing);

#endif
