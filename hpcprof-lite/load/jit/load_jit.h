/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of code that a process generated at run time (JIT). Two kinds of files contain them. A perf
 * map (perf-PID.map; Linux, tools/perf/Documentation/jit-interface.txt) has the address, size and
 * name of one function in each line. A jitdump (jit-PID.dump;
 * tools/perf/Documentation/jitdump-specification.txt) also has times and source lines. The input
 * may be any bytes; invalid records are skipped. Tests: tests/unit/prof/test_jit.c,
 * tests/fuzz/fuzz_jit.c.
 */
#ifndef HPCPROF_LITE_LOAD_JIT_LOAD_JIT_H
#define HPCPROF_LITE_LOAD_JIT_LOAD_JIT_H

#include "common/base/strtab.h"
#include "hpcprof-lite/load/load_file.h"

#define JIT_NO_FILE UINT32_MAX
#define JIT_SHIFT_BYTES 64u /* size of an ELF header, see jit_dump.c */

/* The code of one function at one place. */
struct jit_code {
	uint64_t start, end;  /* run-time addresses */
	uint64_t time_ns;     /* CLOCK_MONOTONIC of when the code was put there; 0: unknown */
	uint64_t max_end;     /* of the subtree, see jit_sort() */
	uint32_t name;        /* in strings */
	uint32_t first_line, n_lines;
	uint64_t index;       /* its number in the jitdump */
};

/* The source line of the code from this address up to the next jit_line. */
struct jit_line {
	uint64_t addr;
	uint32_t file, line;
};

typedef VEC(struct jit_code) jit_list;

/* Zero-initialise. Free with jit_names_free(). */
struct jit_names {
	struct strtab strings;
	jit_list dump, map;
	VEC(struct jit_line) lines;
	/* addresses of the jitdump's lines count from a missing ELF header */
	bool entries_are_shifted;
};

/* Append the contents of a perf map or a jitdump. False if memory is short. */
bool jit_read_map(struct jit_names *names, const uint8_t *bytes, size_t n_bytes);
bool jit_read_dump(struct jit_names *names, const uint8_t *bytes, size_t n_bytes);
/* Call it after the last file and before the first jit_find(). */
void jit_sort(struct jit_names *names);

/*
 * Calls found() for each code in the list that contains the address, until found() returns false.
 * Returns false if found() did.
 */
bool jit_find(const jit_list *list, uint64_t addr,
	bool (*found)(void *arg, const struct jit_code *code), void *arg);
/* The line of an address in a code. False: unknown. */
bool jit_line_at(const struct jit_names *names, const struct jit_code *code, uint64_t addr,
	uint32_t *file, uint32_t *line);
void jit_names_free(struct jit_names *names);

/*
 * Reads the files of the process of `f`: the copies beside the measurement file, or else the
 * originals (jit_files.c says when an original is trusted). Finding no file is not a failure. False
 * if memory is short.
 */
bool jit_load(const struct load_file *f, struct jit_names *names);

#endif
