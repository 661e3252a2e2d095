/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One measurement file, mapped and validated. Everything behind a struct load_file may be used without another check: ids are in range, parents come
 * before children, strings end. What is not sound was skipped and counted. The file's bytes stay mapped and are borrowed by the views below.
 * Tests: tests/unit/test_load.c, tests/fuzz/fuzz_measurement.c.
 */
#ifndef HPCPROF_LITE_LOAD_LOAD_FILE_H
#define HPCPROF_LITE_LOAD_LOAD_FILE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"
#include "common/base/vec.h"
#include "common/format/measurement.h"
#include "hpcprof-lite/load/load_gpu.h"

#define LOAD_DAMAGED UINT32_MAX /* in load_thread.node_to: the file does not hold this node in a sound form */

/* The records of one extent of nodes, cells or trace records. */
struct load_part {
	uint64_t first;         /* index of the first record; trace: its time, CLOCK_MONOTONIC ns */
	uint32_t sequence;
	const uint8_t *content; /* 8-byte aligned */
	uint64_t n_bytes;       /* a multiple of the record size */
};

struct load_thread {
	struct msr_thread record;        /* a copy; zero but for `number` when !has_record */
	bool has_record;
	const struct msr_thread *now;    /* the record in the file, perhaps still written; NULL */
	VEC(struct load_part) nodes;     /* ascending, without overlap */
	VEC(struct load_part) cells;
	VEC(struct load_part) trace;     /* in the order they were written */
	uint32_t n_nodes;                /* highest node id + 1, at least 1 */
	uint32_t *node_to;               /* by node id: LOAD_DAMAGED, or for the consumer to fill (0 after loading) */
	uint64_t n_trace_records;        /* sound ones */
	uint64_t first_trace_ns, last_trace_ns; /* CLOCK_MONOTONIC; 0 when there is none */
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

/* A program that could not be measured. */
struct load_unmeasured {
	const struct msr_unmeasured *record;
	const char *path;
};

struct load_file {
	char *path;
	struct mapfile map;
	struct msr_header header;        /* a copy, host terminated */
	VEC(struct load_thread) threads; /* ascending numbers */
	VEC(struct load_module) modules; /* by module id */
	VEC(struct load_python) python;  /* by id */
	bool has_python;                 /* there is a logical module of Python */
	bool has_unknown_code;           /* frames in code outside every module */
	const char *jitdump;             /* INFO "jitdump": path of the file; NULL: none */
	const struct msr_metric *metrics[MSR_MAX_METRICS]; /* by metric id; NULL: none */
	const char *executable;          /* "" when unknown */
	const char *directory;           /* where it was started; "" when unknown */
	char *command;                   /* arguments joined by blanks; owned */
	VEC(const char *) notes;         /* INFO "note" */
	VEC(const char *) events;        /* INFO "event": what was asked for */
	VEC(struct msr_child) children;  /* that it waited for */
	VEC(struct load_unmeasured) unmeasured; /* those that were started, with a known pid */
	struct load_gpu gpu;
	VEC(struct msr_view) inside;     /* children of fork that needed no file */
	bool is_inside;                  /* it is one of them: the bytes are its parent's */
	uint64_t bytes_damaged;
	bool truncated;
	bool is_live;                    /* the process went on recording while the file was read */
	VEC(void *) owned;               /* memory that views were replaced by; freed with the file */
	_Atomic uint64_t n_unreleased;   /* bytes read since pages were given back */
};

/*
 * Fills *f (zeroed by the caller) from the file at `path`. Damage is not a failure: it is logged as a warning and counted. Failures, logged: STATUS_UNSUPPORTED
 * another major version; STATUS_BAD_INPUT not a measurement file at all; STATUS_NOT_FOUND the file is too short to hold a header (its process died at
 * once; a warning); STATUS_IO, STATUS_NO_MEMORY. In any case load_file_close() frees what is there.
 */
enum status load_file_open(const char *path, struct load_file *f);
/*
 * The same for the i-th of `parent->inside`, which is read like a file. Its bytes stay the parent's,
 * which is closed after it. Whatever it has inside itself is not looked at: nobody writes that.
 */
enum status load_file_inside(const struct load_file *parent, size_t i, struct load_file *f);
/* The same from bytes that the caller keeps (64-byte aligned), for tests and fuzzing; quiet about damage. */
enum status load_file_bytes(const char *name, const uint8_t *bytes, size_t n_bytes, struct load_file *f);
void load_file_close(struct load_file *f);

/*
 * The process still runs, and the thread has had samples since its record was copied: its tree is
 * of a later moment than the record, and not all of it may have been read.
 */
bool load_is_live(const struct load_file *f, const struct load_thread *t);

/* False: the cell names a node or metric that is not sound, or holds more than can be; counted as damage when the file was opened, to be passed over. */
bool load_cell_is_sound(const struct load_file *f, const struct load_thread *t, const struct msr_cell *c);

/* True for the address of a path's entry (module MSR_MODULE_NONE). */
static inline bool load_is_entry(msr_addr a)
{
	return msr_addr_module(a) == MSR_MODULE_NONE;
}

/* No run lasts longer (nine years): a time further from its start than this is damage, and does not move the clock. */
#define LOAD_LONGEST_NS (UINT64_C(1) << 58)

/* The root has no cells. Nor does a thread gather more samples, nanoseconds or events in one context than a run has nanoseconds: more is damage, and would make sums overflow. */
static inline bool load_cell_is_plausible(const struct msr_cell *c)
{
	return c->node != 0 && c->count <= LOAD_LONGEST_NS && c->sum <= LOAD_LONGEST_NS;
}

/* One step over a time line. Returns false at the end of the part. An escape gives no sample but moves the clock. */
struct load_trace_step {
	uint64_t time_ns; /* running time, CLOCK_MONOTONIC; set to the part's `first` before the first step */
	uint64_t offset;  /* of the next record in the part's content */
	uint32_t node;
	unsigned metric;
	uint64_t latest_ns; /* an absolute time beyond this is passed over */
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
