/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report for the user at the end of a process. Signal-safe: no malloc, no stdio. Tests:
 * tests/cli/run/run_processes.sh, tests/cli/run/run_children.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_REPORT_REPORT_H
#define HPCRUN_LITE_RUNTIME_REPORT_REPORT_H

#include "common/safe/text.h"
#include "hpcrun-lite/runtime/report/gpu_sums.h"
#include "hpcrun-lite/runtime/thread_record.h"

/*
 * report.c: prints the report at the end, a line or a table. With `answers` false, reads only files
 * of the node, because the file server of the measurement directory may not answer.
 */
void report_print(bool answers);
/* report_files.c: from now on, only files of the node are read. */
void report_stay_on_node(void);
/*
 * report_files.c: how many files of killed and of running processes of this rank were still on the
 * node when they were last read. 0 after report_stay_on_node().
 */
uint64_t report_n_on_node(void);
/*
 * report_files.c: adds what the other processes of this rank have written so far. Returns the
 * number of processes.
 */
uint64_t report_add_others(struct thread_totals *sum, struct gpu_sums *gpu);
/* report_files.c: the number of binaries that the measurement has copies of. */
uint64_t report_n_kept(void);
/*
 * report_files.c: CPU time of a process in threads that we did not see start. `sum` has only the
 * threads of that process.
 */
uint64_t report_strange_ns(const struct msr_header *h, const struct thread_totals *sum);
/*
 * True if the directory could not be opened when the files were last read, because the process has
 * another root directory or user. Then only this process and children without their own file are
 * counted.
 */
bool report_is_apart(void);
/* The recording of a process: a range of bytes in a file, with a header page and extents. */
struct report_place {
	int fd;
	uint64_t start, end;
	uint64_t header_bytes; /* its extents start there, counted from `start` */
};
/*
 * Calls `visit` for each process of this rank, including this one if `with_own`. Returns the number
 * of other processes.
 */
uint64_t report_each_process(bool with_own, void (*visit)(const struct report_place *p, void *arg),
			     void *arg);
/* Reads at most 64 KiB from these files. The number of reads is limited. */
bool report_read_at(int fd, void *to, size_t n, uint64_t at);
/* Returns true if the limit was reached: not all processes were visited. */
bool report_is_cut(void);
/*
 * Reads the header of the next extent of a place into *e. *at is 0 at first, then the position
 * after *e. Returns false if there is no more.
 */
bool report_next_extent(const struct report_place *p, uint64_t *at, struct msr_extent *e);
/* report_children.c: adds a line for each program of this rank that was not measured. */
void report_put_unmeasured(struct text *t);

#endif
