/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of code that a process made while it ran (JIT). Two kinds of files have them. A perf map
 * (perf-PID.map; Linux, tools/perf/Documentation/jit-interface.txt) has a function's address, size
 * and name in each line. A jitdump (jit-PID.dump;
 * tools/perf/Documentation/jitdump-specification.txt) has the same with times, and source lines.
 * Any bytes may be given: what makes no sense is passed over. Tests: tests/unit/test_jit.c,
 * tests/fuzz/fuzz_jit.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_JIT_H
#define HPCPROF_LITE_LOAD_LOAD_JIT_H

#include "common/base/strtab.h"
#include "hpcprof-lite/load/load_file.h"

#define JIT_NO_FILE UINT32_MAX
#define JIT_SHIFT_BYTES 64u /* size of an ELF header, see jit_dump.c */

/* Code of one function at one place. */
struct jit_code {
	uint64_t start, end;  /* run-time addresses */
	uint64_t time_ns;     /* CLOCK_MONOTONIC when it was put there; 0: not known */
	uint64_t max_end;     /* of the subtree, see jit_sort() */
	uint32_t name;        /* in strings */
	uint32_t first_line, n_lines;
	uint64_t index;       /* the number that a jitdump gives it */
};

/* The line of the code from an address on, up to the next one. */
struct jit_line {
	uint64_t addr;
	uint32_t file, line;
};

struct jit_list {
	struct jit_code *at;
	size_t n, capacity;
};

/* Zero-initialise; jit_names_free(). */
struct jit_names {
	struct strtab strings;
	struct jit_list dump, map;
	VEC(struct jit_line) lines;
	bool entries_are_shifted; /* the jitdump's lines count from an ELF header that is not there */
};

/* Appends what a perf map or a jitdump says. False when memory is short. */
bool jit_read_map(struct jit_names *names, const uint8_t *bytes, size_t n_bytes);
bool jit_read_dump(struct jit_names *names, const uint8_t *bytes, size_t n_bytes);
/* After the last file and before the first jit_find(). */
void jit_sort(struct jit_names *names);

/*
 * Calls found() for each code of the list that holds the address, until that says false. Returns
 * false when one did.
 */
bool jit_find(const struct jit_list *list, uint64_t addr,
	bool (*found)(void *arg, const struct jit_code *code), void *arg);
/* The line of an address in a code. False: none is known. */
bool jit_line_at(const struct jit_names *names, const struct jit_code *code, uint64_t addr,
	uint32_t *file, uint32_t *line);
void jit_names_free(struct jit_names *names);

/*
 * Reads the files that belong to the process of `f`: the copies beside the measurement file, else
 * the originals where they are (jit_files.c says when one is believed). Nothing found is no
 * failure. False when memory is short.
 */
bool jit_load(const struct load_file *f, struct jit_names *names);

#endif
