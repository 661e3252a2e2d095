/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file of this process: makes it, grows it, gives out its extents as memory, trims it at the end. One store a process.
 *
 * Space is reserved (fallocate, or zeros written) before it is given out, mapped shared, and touched ahead, so that a full disk is a
 * counted loss and not a SIGBUS, and so that what was stored survives SIGKILL. There is no service thread: whoever takes an extent and
 * leaves little room behind makes more, under a lock that is only ever tried. Signal-safe unless said otherwise.
 * Tests: tests/unit/test_store.c, tests/cli/run_space.sh.
 */
#ifndef HPCRUN_LITE_STORE_STORE_H
#define HPCRUN_LITE_STORE_STORE_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_options {
	const char *directory; /* exists */
	const char *name;      /* of the file in it; NULL: made of rank, host and pid */
	const char *host;
	int rank, n_ranks;     /* -1: none */
	unsigned pid, parent_pid;
	unsigned exec_seq;
	uint64_t process_start_ns;
	uint64_t max_bytes;    /* bound on the file; 0: none */
	uint32_t flags;        /* MSR_FLAG_* */
};

/*
 * Makes <directory>/<rank>-<host>-<pid>[.n].hpcrun (rank: six digits or "norank"; .n when the name is taken, as after exec), or the file of
 * the name that is asked for, which must not be there, with its header page and the first space. On failure nothing is left behind and `cause` (a constant string) says why. Not signal-safe.
 */
bool store_open(const struct store_options *options, const char **cause);

/*
 * Around a fork, in the parent and in the thread that forks: takes a slab of its file for the child
 * (see nursery.h), so that a child that records little needs no file. Signal-safe.
 */
void store_before_fork(void);
void store_after_fork(void);

/*
 * In the child of fork, instead of store_open: its header and first extents go into the slab that
 * was taken for it, if there is one, and into a file of its own once they do not fit any more. What
 * `options` points to stays. Until the process has its own file it has no descriptor.
 */
bool store_open_forked(const struct store_options *options, const char **cause);

/*
 * Makes the process's own file if it has none yet: before it has a second thread, and before it loses
 * the right to make files. False: it could not be made. Signal-safe; the process has one thread.
 */
bool store_own(void);

/* The path of the file, absolute as `directory` is; "" before store_open. That of the ancestor's in a slab. */
const char *store_path(void);

/* The header page, writable; NULL when there is no store. */
struct msr_header *store_header(void);

/* Counts a loss that belongs to no thread. Nothing when there is no store. */
void store_count_loss(enum msr_loss cause);

struct store_request {
	enum msr_kind kind;
	uint16_t record_bytes;
	uint32_t thread;
	uint32_t sequence;
	uint64_t first;
	uint32_t n_bytes;      /* wanted, header included; rounded up to MSR_EXTENT_ALIGN */
	uint32_t least_bytes;  /* an unused piece of at least so many bytes will do; 0: n_bytes */
};

/*
 * An extent with its header written, `used` 0, content zero; valid until store_forget. NULL: none, with the loss in *cause. Any thread.
 * Space is at most 8 MiB an extent.
 */
struct msr_extent *store_extent(const struct store_request *request, enum msr_loss *cause);

/* Gives back what is behind `used`: the extent shrinks, the rest is for others. Only the extent's writer, which must not append again. */
void store_give_tail(struct msr_extent *extent);

/* The writer has finished with a full extent that nobody in the process will read again: takes it out of resident memory. */
void store_drop(struct msr_extent *extent);

/*
 * A fault at `address`: somebody has shortened the file under its mapping. True: it is ours, the page is memory of no file now, and the store gives out and
 * trims nothing any more. Signal-safe.
 */
bool store_mend(const void *address);
bool store_is_damaged(void);

/* Bytes of the file given out so far, for the report. */
uint64_t store_bytes(void);

/* True when the file could not be grown for lack of space at some time. */
bool store_was_full(void);

/*
 * The end: no extent is given out any more, the file is cut to what is in use; with `quiet` (no thread will write any more) unused pages
 * inside it are released too. The mapping stays. Not signal-safe. After it, store_reopen takes extents again (an exec that failed).
 */
void store_finish(bool quiet);
void store_reopen(void);

/* In the child of fork: forgets the parent's file without touching it. store_open may follow. */
void store_forget(void);

/* The descriptor, -1 when there is none, and the number it is moved to when the program wants it (false: given up). */
int store_fd(void);
bool store_move_fd(void);

#endif
