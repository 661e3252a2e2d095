/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One measurement file, mapped and validated. Data in a struct load_file needs no further checks:
 * ids are in range, parents come before children, strings end. Damaged parts were skipped and
 * counted. The bytes of the file stay mapped, and the views below borrow them. Tests:
 * tests/unit/prof/test_load.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_FILE_H
#define HPCPROF_LITE_LOAD_LOAD_FILE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement.h"
#include "hpcprof-lite/load/load_gpu.h"
#include "hpcprof-lite/load/load_memory.h"
#include "hpcprof-lite/load/load_mpi.h"
#include "hpcprof-lite/load/load_nvtx.h"

/* in load_thread.node_to: the file has no valid form of this node */
#define LOAD_DAMAGED UINT32_MAX

/* The records of one extent of nodes, cells or trace records. */
struct load_part {
	uint64_t first;         /* index of the first record; trace: its time, CLOCK_MONOTONIC ns */
	uint32_t sequence;
	const uint8_t *content; /* 8-byte aligned */
	uint64_t n_bytes;       /* a multiple of the record size */
};

struct load_thread {
	uint32_t number;
	struct msr_thread *copy;         /* copy of the record; owned; NULL: there is none */
	const struct msr_thread *record; /* the copy, or a record of zeros; never NULL */
	/* the record in the file, which may still change; may be NULL */
	const struct msr_thread *now;
	VEC(struct load_part) nodes;     /* ascending, without overlap */
	VEC(struct load_part) cells;
	VEC(struct load_part) trace;     /* in the order in which they were written */
	VEC(struct load_nvtx_range) ranges; /* of NVTX, by number */
	VEC(struct load_part) nvtx_events;  /* see load_nvtx_event_is_sound() */
	VEC(struct load_part) memory;       /* see load_memory_is_sound() */
	uint32_t n_nodes;                /* highest node id + 1, at least 1 */
	/* by node id: LOAD_DAMAGED, or a value that the consumer sets (0 after loading) */
	uint32_t *node_to;
	/* the same for time lines; NULL: as node_to; see merge_thread() */
	uint32_t *shown_to;
	uint64_t n_trace_records;        /* valid records */
	uint64_t first_trace_ns, last_trace_ns; /* CLOCK_MONOTONIC; 0 if there are none */
};

struct load_module {
	const struct msr_module *record; /* NULL: no module has this id */
	const char *path;
};

/* A code object of Python. */
struct load_python {
	const struct msr_python_code *record; /* NULL: no object has this id */
	const char *file, *name;
	const uint8_t *lines;            /* record->line_bytes */
};

/* A module of PyTorch that frames call. */
struct load_torch_module {
	const struct msr_torch_module *record; /* NULL: no module has this id */
	const char *name, *class;
};

/* A program that could not be measured. */
struct load_unmeasured {
	const struct msr_unmeasured *record;
	const char *path;
};

/* Processes of one program that MPI_Comm_spawn started for this process. */
struct load_spawn {
	const struct msr_spawn *record;
	const char *path;
};

/* Sums of a parallel region, as in struct msr_omp_region. */
struct load_region {
	msr_addr call, function; /* 0: not known */
	uint32_t n_threads, schedule;
	uint64_t instances, elapsed_ns, n_timed, busy_ns, max_ns, min_ns;
};

/* As struct msr_phase. */
struct load_phase {
	uint64_t enter_ns, leave_ns;
	uint64_t mpi_ns;         /* of the main thread; UINT64_MAX: unknown */
	uint32_t thread, node;   /* node 0: unknown; else `thread` is an index in the file */
};

/* What threads waited on. */
struct load_wait_object {
	const struct msr_wait_object *record; /* NULL: no object has this id */
	const char *text;
};

struct load_file {
	char *path;
	struct mapfile map;
	struct msr_header header;        /* a copy; the host name is terminated */
	/* header.rank, or in a spawned job a number that no other job uses: see load_ranks.h */
	int32_t rank;
	uint32_t spawned_job; /* from 1; 0: the process was not spawned */
	VEC(struct load_thread) threads; /* ascending numbers */
	VEC(struct load_module) modules; /* by module id */
	VEC(struct load_python) python;  /* by id */
	VEC(struct load_torch_module) torch_modules; /* by id, which no code object has */
	VEC(struct load_wait_object) wait_objects; /* by id */
	bool has_python;                 /* the file has a logical module of Python */
	bool has_unknown_code;           /* there are frames in code outside all modules */
	bool has_forward;                /* there are MSR_FORWARD frames */
	const char *processors;          /* INFO "processors": "0-3,8-8"; "" if unknown */
	const char *jitdump;             /* INFO "jitdump": path of the file; NULL: none */
	const struct msr_metric *metrics[MSR_MAX_METRICS]; /* by metric id; NULL: none */
	const char *executable;          /* "" if unknown */
	const char *job;                 /* INFO "job": batch job and step; NULL: none */
	const char *directory;           /* the working directory at its start; "" if unknown */
	const char *called;              /* its first argument; NULL if unknown */
	char *command;                   /* arguments joined by blanks; owned */
	char *command_line;              /* the same, quoted for a shell; owned */
	VEC(const char *) notes;         /* INFO "note" */
	VEC(const char *) events;        /* INFO "event": what the user asked for */
	VEC(struct msr_child) children;  /* child processes that it waited for */
	/* unmeasured programs that it started, with known pids */
	VEC(struct load_unmeasured) unmeasured;
	VEC(struct load_spawn) spawns;
	VEC(struct load_region) regions; /* parallel regions of OpenMP */
	VEC(struct load_phase) phases;   /* phases that the program marked */
	struct load_gpu gpu;
	struct load_mpi mpi;
	struct load_nvtx nvtx;
	VEC(struct msr_view) inside;     /* children of fork that needed no file of their own */
	bool is_inside; /* this is a child of fork: the bytes belong to its parent */
	uint64_t kinds; /* bit k: there are extents of kind k; 63 also stands for higher kinds */
	uint64_t extents_end; /* offset after the last extent */
	uint64_t bytes_damaged;
	bool truncated;
	uint8_t running; /* enum load_running: of the process when the file was read */
	bool is_live;    /* the process was still running while the file was read, or copied */
	/*
	 * CLOCK_MONOTONIC when the file was read, if its process ran on this host; 0: it did not,
	 * or that is not known
	 */
	uint64_t live_ns;
	/* 0, or CLOCK_MONOTONIC of a copy that was made while the process ran */
	uint64_t copied_ns;
	VEC(void *) owned;               /* memory that replaced views; freed with the file */
	_Atomic uint64_t n_unreleased;   /* bytes read since pages were last given back */
	/* 1 + the only part that has its trees and values; 0: all parts have them */
	int reader;
	bool is_outline; /* made by load_outline_read(): has no trees or values */
	bool leaves_lines;  /* set by the caller before opening: time lines are not read */
	bool leaves_values; /* cells and time lines are not checked: see load_check_values() */
	bool stays; /* all files of the job are small, so LOAD_ALL would not pay off */
};

/*
 * Fills *f from the file at `path`. The caller has zeroed it, and may have set `stays`,
 * `leaves_lines` and `leaves_values`. Damage is
 * not a failure: it is counted, see load_warn_of_damage(). Failures are logged:
 * - STATUS_UNSUPPORTED: another major version
 * - STATUS_BAD_INPUT: not a measurement file
 * - STATUS_NOT_FOUND: too short to hold a header, because its process died at once (a warning)
 * - STATUS_IO, STATUS_NO_MEMORY
 * Call load_file_close() in all cases; it frees what is there.
 */
enum status load_file_open(const char *path, struct load_file *f);
/*
 * Does the same for the i-th view of `parent->inside`, which is read like a file. Its bytes still
 * belong to the parent, so close the parent later. Nested `inside` views are ignored, because
 * hpcrun-lite never writes them.
 */
enum status load_file_inside(const struct load_file *parent, size_t i, struct load_file *f);
/*
 * Does the same for bytes that the caller keeps (64-byte aligned), for tests and fuzzing.
 */
enum status load_file_bytes(const char *name, const uint8_t *bytes, size_t n_bytes,
	struct load_file *f);
void load_file_close(struct load_file *f);
/* Frees what a thread owns, for readers that take threads out of a file. */
void load_free_thread(struct load_thread *t);

/*
 * Checks cells and time lines of a file that was opened with `leaves_values`: counts damage, sets
 * numbers and times of trace records. False: it found damage.
 */
bool load_check_values(struct load_file *f);
/* Logs a warning if the file is damaged. */
void load_warn_of_damage(const struct load_file *f);

/*
 * True if the process still runs, or ran when the file was copied, and the thread got samples after
 * its record was read. Its tree is then newer than the record, and parts of it may be missing.
 */
bool load_is_live(const struct load_file *f, const struct load_thread *t);

/*
 * False: the cell names a damaged node or metric, or holds impossible values. Skip it; it was
 * counted as damage when the file was opened.
 */
bool load_cell_is_sound(const struct load_file *f, const struct load_thread *t,
	const struct msr_cell *c);

/* True if a module with this id is in the file, or the id stands for code in no module. */
bool load_knows_module(const struct load_file *f, uint16_t id);

/* True for the entry of a call path, which is a child of the root. */
static inline bool load_is_entry(msr_addr a)
{
	return msr_addr_module(a) == MSR_MODULE_NONE && msr_addr_link(a) < MSR_WAIT;
}
/* True for a frame that says what the thread waited for. */
static inline bool load_is_wait(msr_addr a)
{
	return msr_addr_module(a) == MSR_MODULE_NONE && msr_addr_link(a) >= MSR_WAIT &&
	       msr_addr_link(a) < MSR_NVTX;
}
/* True for a frame that says in which range of NVTX the thread was. */
static inline bool load_is_nvtx(msr_addr a)
{
	return msr_addr_module(a) == MSR_MODULE_NONE && msr_addr_link(a) >= MSR_NVTX &&
	       msr_addr_link(a) < MSR_FORWARD;
}
/* True for a frame that names the path of the forward pass that made the work inside of it. */
static inline bool load_is_forward(msr_addr a)
{
	return msr_addr_module(a) == MSR_MODULE_NONE && msr_addr_link(a) >= MSR_FORWARD;
}

/*
 * No run lasts longer than this (nine years). A time that is further from the start is damage and
 * does not move the clock.
 */
#define LOAD_LONGEST_NS (UINT64_C(1) << 58)

/*
 * The root has no cells. In one context, a thread cannot have more samples, nanoseconds or events
 * than LOAD_LONGEST_NS. Larger values are damage and would overflow sums.
 */
static inline bool load_cell_is_plausible(const struct msr_cell *c)
{
	return c->node != 0 && c->count <= LOAD_LONGEST_NS && c->sum <= LOAD_LONGEST_NS;
}

/*
 * One step along a time line. Returns false at the end of the part. An escape is not a sample; it
 * moves the clock.
 */
struct load_trace_step {
	/* current time, CLOCK_MONOTONIC; set it to the part's `first` before the first step */
	uint64_t time_ns;
	uint64_t offset;  /* of the next record in the content of the part */
	uint32_t node;
	unsigned metric;
	uint64_t latest_ns; /* later absolute times are ignored */
};
static inline bool load_trace_next(const struct load_part *p, struct load_trace_step *s)
{
	while (s->offset < p->n_bytes) {
		uint64_t word = *(const uint64_t *)(const void *)(p->content + s->offset);
		s->offset += sizeof word;
		s->metric = (unsigned)(word >> 28) & 15u;
		s->node = (uint32_t)word & MSR_TRACE_NODE_MAX;
		if (s->metric != MSR_TRACE_TAG_ESCAPE) {
			s->time_ns += word >> 32;
			return true;
		}
		if (s->node == MSR_TRACE_ABSOLUTE && s->offset < p->n_bytes) {
			word = *(const uint64_t *)(const void *)(p->content + s->offset);
			s->time_ns = word > s->time_ns && word <= s->latest_ns ? word : s->time_ns;
			s->offset += sizeof word;
		}
	}
	return false;
}

#endif
