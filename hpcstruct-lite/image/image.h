/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The image room reads a file and finds its sections, symbols, build id and ranges of code. The
 * table in image.c has one entry for each kind of file (ELF, OpenCL source). Of DWARF, the room
 * knows only the names of the sections. An image is constant after image_open(), so any thread may
 * read it. Tests: tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
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
	const char *name;      /* ".debug_" even if the file has ".zdebug_" */
	uint32_t type;         /* SHT_* */
	uint64_t flags;        /* SHF_* */
	uint64_t link_addr;    /* 0 if the section is not loaded */
	uint64_t n_bytes;
	const uint8_t *bytes;  /* NULL if the file has no contents for it (SHT_NOBITS, damage) */
	enum image_packing packed; /* if compressed, only image_unpack() uses `bytes` */
	uint32_t link, info;
	uint64_t entry_bytes;
	uint64_t file_offset;
};

/* A range of the link-time address space that holds code. */
struct image_region {
	uint64_t start, n_bytes;
	uint32_t position; /* bytes of code in the regions before it; see image_position() */
};

struct image;

/* One kind of file. */
struct image_kind {
	const char *name;
	bool is_source;        /* program text: one region, whose addresses are file offsets */
	bool (*recognises)(const char *path, const uint8_t *bytes, size_t n_bytes);
	/* Fills sections, regions and build id. Logs what is wrong with the file. */
	enum status (*load)(struct image *image);
};

struct image {
	const char *path;      /* owned */
	struct mapfile file;
	const struct image_kind *kind;
	uint16_t machine;      /* EM_* */
	/* index of SHT_SYMTAB_SHNDX, which files with very many sections need; 0: none */
	uint32_t far_sections;
	bool is_incomplete;    /* part of the description of the code is unusable; already logged */
	unsigned architecture; /* of a cubin, 90 for sm_90; else 0 */
	uint64_t entry;        /* link address of the entry point; 0: none */
	/* NVIDIA's GPU code; a link address is a file offset, see image_cubin.c */
	bool is_cubin;
	VEC(struct image_section) sections; /* index 0 is the empty section */
	/* in rising order; regions with small gaps are joined */
	VEC(struct image_region) regions;
	/* executable sections in rising order; position is unused */
	VEC(struct image_region) code;
	uint8_t build_id[IMAGE_BUILD_ID_MAX];
	size_t build_id_bytes;
	VEC(uint8_t *) unpacked; /* memory of decompressed sections */
	void *handle;          /* private to the kind of file */
};

/*
 * Returns true if the file has a form that this program cannot read. *form is then "SPIR-V", "PTX
 * text" and so on, or NULL if the form is unknown. Returns false if image_open() is worth a try.
 * Examines only the first bytes.
 */
bool image_is_foreign(const char *path, const uint8_t *bytes, size_t n_bytes, const char **form);
/*
 * Opens a file. Logs every failure, STATUS_NOT_FOUND included. On success the caller owns *image.
 */
enum status image_open(const char *path, struct image **image);
/* The same for an open file, which is closed. fd -1: errno says why. */
enum status image_take(int fd, const char *path, struct image **image);
void image_close(struct image *image);

/*
 * Decompresses the sections in `names`, a list that NULL ends, with up to n_workers threads. Logs a
 * section that cannot be decompressed and leaves it without contents. Returns false when out of
 * memory. Call it before other threads can see the image.
 */
bool image_unpack(struct image *image, const char *const *names, unsigned n_workers);

/* Returns the section with that name if it has uncompressed contents, else NULL. */
const struct image_section *image_find(const struct image *image, const char *name);

/*
 * The regions are laid end to end in a 32-bit space, and an address has a position there. Positions
 * rise with the address and make records half as large. Both functions return false if the address
 * is in no region. The end of a region has the same position as the start of the next region: use
 * image_position_end() for an exclusive end.
 */
bool image_position(const struct image *image, uint64_t link_addr, uint32_t *position);
bool image_position_end(const struct image *image, uint64_t end_addr, uint32_t *position);
uint64_t image_address(const struct image *image, uint32_t position);
/* Returns the exclusive upper bound of positions, which start at 0. */
uint32_t image_n_positions(const struct image *image);
/* Returns the executable section that holds the address, one of image->code, or NULL. */
const struct image_region *image_code_at(const struct image *image, uint64_t link_addr);
/* Returns true if an executable section holds the address. */
bool image_is_code(const struct image *image, uint64_t link_addr);

enum image_symbol_table { IMAGE_SYMTAB, IMAGE_DYNSYM };

struct image_symbol {
	uint64_t link_addr, n_bytes; /* n_bytes 0: unknown */
	const char *name;      /* no NUL at its end: the symbol version is cut off */
	uint32_t name_bytes;
	uint32_t source;       /* number of the source file (STT_FILE) of a local symbol; 0: none */
	uint8_t type, bind;    /* STT_*, STB_* */
	uint8_t other;         /* st_other */
	uint8_t table;         /* enum image_symbol_table */
};
struct image_symbols {
	VEC(struct image_symbol);
};

/*
 * Returns the section of the symbol at `index` of a table, or 0 if it has none. st_shndx is the
 * field of the symbol. Files with very many sections keep the number in another section.
 */
uint32_t image_symbol_section(const struct image *image, const struct image_section *table,
	uint64_t index, uint16_t st_shndx);
/*
 * Returns the symbol table that the relocations or notes of a section refer to. This is the table
 * that the section's header names. If the header names no symbol table, it is the only one of the
 * file, because nvcc 12.0 names the wrong section. Returns NULL if the file then has none or
 * several.
 */
const struct image_section *image_linked_symbols(
	const struct image *image, const struct image_section *s);
/* Chooses symbols. */
struct image_symbol_filter {
	/* Returns true to append the symbol. Its name is not empty. */
	bool (*takes)(void *arg, const struct image_symbol *symbol);
	void *arg;
	bool with_names;       /* otherwise takes() may only read the first byte of the name */
	bool is_again;         /* damage has been logged */
};
/*
 * Appends the symbols in code, in the order of the file; if `filter` is not NULL, those that it
 * takes. Logs a damaged table and uses its undamaged part.
 */
enum status image_read_symbols(const struct image *image,
	const struct image_symbol_filter *filter, struct image_symbols *symbols);

/* A stub of the procedure linkage table (PLT). */
struct image_stub {
	uint64_t link_addr, n_bytes;
	const char *target;    /* name of the called function, borrowed; NULL: none (IFUNC) */
	uint32_t target_bytes;
	uint64_t target_addr;  /* 0: unknown, or in another binary */
	bool is_resolver;      /* the first stub, which calls the dynamic linker */
};
struct image_stubs {
	VEC(struct image_stub);
};
/*
 * Appends the stubs of .plt, .plt.sec, .plt.got and .iplt. Supports x86-64 and AArch64; appends
 * none on other machines.
 */
enum status image_read_stubs(const struct image *image, struct image_stubs *stubs);

/*
 * Finds the link address of `main`, which the start-up code at the entry point passes to
 * __libc_start_main. Returns false if there is no entry point, if its code is not glibc's _start,
 * or if main is in another object. x86-64 only.
 */
bool image_find_main(const struct image *image, uint64_t *link_addr);

/*
 * Appends the ranges that .eh_frame describes, in the order of the file. There is about one for
 * each function or part of a function.
 */
struct image_range {
	uint64_t start, end;
};
struct image_ranges {
	VEC(struct image_range);
};
enum status image_read_frames(const struct image *image, struct image_ranges *ranges);

/*
 * Appends functions of glibc that have no symbol but that their place and code identify: the caller
 * of main, the start of threads, the call that makes threads, and the functions that make a call
 * which can be cancelled. None if the image is not glibc's libc.so.6. x86-64 only.
 */
struct image_function {
	const char *name; /* a constant */
	struct image_range range;
};
struct image_functions {
	VEC(struct image_function);
};
enum status image_find_libc(const struct image *image, struct image_functions *functions);

/*
 * Finds the separate debug file of `image` below `dirs`, a list that NULL ends, as in
 * {"/usr/lib/debug", NULL}. Searches by build id, then by .gnu_debuglink,
 * then in the cache of debuginfod's clients. Checks the build id, or
 * else the CRC, and logs a file that does not match. *found is NULL if there is none; the caller
 * owns it.
 */
void image_find_debug(const struct image *image, const char *const *dirs, struct image **found);
/*
 * Finds the shared part that dwz(1) splits off (.gnu_debugaltlink of `image`) in the same way. Sets
 * *missing if the image needs one and it does not exist.
 */
void image_find_alternate(const struct image *image, const char *const *dirs, struct image **found,
	bool *missing);

#endif
