/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement file of this process: creates it, grows it, gives out its extents as memory, and
 * trims it at the end. A process has one store.
 *
 * We reserve space (fallocate, or written zeros), map it shared and touch it before we give it out.
 * So a full disk is a counted loss and not a SIGBUS, and stored data survives SIGKILL. There is no
 * service thread: if a thread takes an extent and little space is left, it makes more. It only ever
 * tries the lock and never waits for it. Signal-safe unless noted. Tests:
 * tests/unit/run/test_store.c, tests/cli/run/run_space.sh.
 */
#ifndef HPCRUN_LITE_STORE_STORE_H
#define HPCRUN_LITE_STORE_STORE_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_options {
	const char *directory; /* must exist */
	/*
	 * A directory of this node; NULL or "": none. The data are in a file of the same name
	 * there. Until someone copies it, the file in `directory` says so (local_data.h).
	 */
	const char *local;
	uint64_t leave_bytes;  /* this much of the file system of `local` stays free */
	const char *name;      /* name of the file in it; NULL: made of rank, host and pid */
	const char *host;
	int rank, n_ranks;     /* -1: none */
	unsigned pid, parent_pid;
	unsigned exec_seq;
	uint64_t process_start_ns;
	uint64_t job_host_id, job_id; /* as in the header */
	unsigned job_pid;
	uint64_t max_bytes;    /* limit on the file size; 0: none */
	uint32_t flags;        /* MSR_FLAG_* */
	/*
	 * Writes METRIC, MODULE and INFO records. Called in a child of fork that leaves its brief
	 * slab, possibly in a handler. May be NULL.
	 */
	void (*describe)(void);
};

/*
 * Creates <directory>/<rank>-<host>-<pid>[.n].hpcrun, or the file with options->name, which must
 * not exist. <rank> is six digits or "norank". ".n" is added if the name exists, for example after
 * exec. Writes the header page and reserves the first space. On failure it leaves no file and sets
 * *cause to a constant string. Not signal-safe.
 */
bool store_open(const struct store_options *options, const char **cause);

/*
 * Call these around a fork, in the parent, from the thread that forks. They take a slab of the file
 * for the child (see nursery.h), so a child that records little needs no file. Signal-safe.
 */
void store_before_fork(void);
void store_after_fork(void);

/*
 * Replaces store_open() in the child of fork. If the parent took a brief slab for the child, the
 * child is brief: its header and the record of its thread are in private memory. When it needs
 * another extent, it gets a slab with more room, and when that is full, a file of its own. Until
 * then it has no descriptor. The memory that `options` points to must stay valid.
 */
bool store_open_forked(const struct store_options *options, const char **cause);

/*
 * For a brief process. store_need_room() ends this state and calls options->describe, or returns
 * false. Call it before you take a lock that `describe` takes. store_publish() writes header and
 * thread to the file; call it at the start and again at the end. All of these do nothing in a
 * process that is not brief, and are signal-safe.
 */
bool store_is_brief(void);
bool store_need_room(void);
void store_publish(void);

/*
 * Creates the process's own file if it has none. Call it before the process gets a second thread
 * and before it loses the right to create files. Returns false on failure; the process then never
 * gets a file, because only a process with one thread can move. Signal-safe.
 */
bool store_own(void);

/*
 * Returns the path of the file, absolute if `directory` is. Returns "" before store_open(), and the
 * ancestor's path if the process uses a slab.
 */
const char *store_path(void);

/* Returns the path of the file in `local`, or "" if the data are not there. */
const char *store_local_path(void);

/* Returns the path of the ancestor's file in `local` that the process used first, or "". */
const char *store_left_path(void);

/*
 * Returns true if the process that made the file has ended, and so has arranged for its copy. The
 * caller has written its own end. Reads the file if the caller uses a slab.
 */
bool store_maker_has_ended(void);

/* Returns the writable header page, or NULL if there is no store. */
struct msr_header *store_header(void);

/* Counts a loss that belongs to no thread. Does nothing if there is no store. */
void store_count_loss(enum msr_loss cause);

struct store_request {
	enum msr_kind kind;
	uint16_t record_bytes;
	uint32_t thread;
	uint32_t sequence;
	uint64_t first;
	uint32_t n_bytes;      /* wanted size with the header; rounded up to MSR_EXTENT_ALIGN */
	uint32_t least_bytes;  /* an unused piece of at least this size is enough; 0: n_bytes */
};

/*
 * Returns an extent with its header written, `used` 0 and zero content. It is valid until
 * store_forget(). Returns NULL if there is none, with the loss in *cause. Any thread may call it.
 * An extent has at most 8 MiB.
 */
struct msr_extent *store_extent(const struct store_request *request, enum msr_loss *cause);

/*
 * Gives back the space after `used`: the extent shrinks, and others can use the rest. Only the
 * writer of the extent may call it, and must not append afterwards.
 */
void store_give_tail(struct msr_extent *extent);

/*
 * Removes a full extent from resident memory. The writer has finished with it, and no one in the
 * process will read it again.
 */
void store_drop(struct msr_extent *extent);

/*
 * Handles a fault at `address`, which happens if another process truncates the file, or if the file
 * system fails. Returns true if the address is ours: the page is now anonymous memory, and the
 * store gives out and trims nothing any more. Signal-safe.
 */
bool store_mend(const void *address);
bool store_is_damaged(void);

/*
 * Returns why the file system of the file has failed, as a constant string, or NULL. If the failed
 * file system is the one for data that do not fit on the node, sets *path to that file.
 */
const char *store_failure(const char **path);

/* Returns the bytes of the file given out so far, for the report. */
uint64_t store_bytes(void);

/* Returns true if the file ever failed to grow for lack of space. */
bool store_was_full(void);

/*
 * Ends the store: it gives out no more extents, and the file is cut to the used size. With `quiet`
 * (no thread will write any more) it also releases unused pages inside the file. The mapping stays.
 * Not signal-safe. store_reopen() allows extents again, after an exec that failed.
 */
void store_finish(bool quiet);
void store_reopen(void);

/* After store_finish: gives the memory and the descriptor back. No thread uses the store any more.
 */
void store_close(void);

/* In the child of fork: forgets the parent's file without touching it. store_open() may follow. */
void store_forget(void);

/*
 * store_fd() returns the descriptor, or -1 if there is none. store_move_fd() moves it to another
 * number because the program wants this one. It returns false on failure; the store then has no
 * descriptor.
 */
int store_fd(void);
bool store_move_fd(void);

#endif
