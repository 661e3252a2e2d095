/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topic is one kind of data that attribution knows beyond samples and their call paths: Python
 * frames, MPI calls, energy, ... Each is a row of the table in attribute/topics.c, and its own file
 * has the row. attribute.c runs the steps in order; in a step it calls all topics, in the order of
 * the table.
 */
#ifndef HPCPROF_ATTRIBUTE_TOPIC_TOPIC_H
#define HPCPROF_ATTRIBUTE_TOPIC_TOPIC_H

#include "common/base/vec.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

struct expand;
struct expand_module;
struct merge_modules;
struct merge_names;
struct sum_extra;

/* A thread of a file. */
struct topic_thread {
	uint32_t file, thread; /* indices in the job and the file */
	uint32_t profile;      /* from TOPIC_DESCRIBE on */
	unsigned worker;       /* whose tree has its nodes; private to attribute */
};

/* By node of a tree: the node of the whole. */
struct topic_nodes {
	uint32_t *at; /* NULL: the same; owned by attribute */
	size_t n;
};

/* What all topics work on. It changes from step to step. */
struct topic_run {
	struct load_job *job; /* the model's */
	struct model *m;
	struct comm *comm;    /* as in struct attribute_options */
	unsigned n_workers;
	bool internals, ranges;
	struct merge_modules *modules;
	uint32_t **module_of;  /* by file, then module id of the file */
	VEC(struct topic_thread) threads; /* in the order of files; without queues */
	uint32_t *first_thread;  /* by file, and the end: of its threads in the list above */
	uint32_t *first_profile; /* by file: the profile of its first thread */
	struct expand *expand;
	const struct expand_module *expand_modules; /* by module; in TOPIC_EXPAND alone */
	const uint32_t *context_of;     /* by node of the whole tree, from TOPIC_EXPAND on */
	struct topic_nodes *to_whole;   /* by worker */
	const struct topic_ops *const *topics;
	void **states; /* by topic */
};

enum topic_step {
	TOPIC_OPEN,      /* the files are loaded; it may add modules to them and move their times */
	TOPIC_NAME,      /* the modules of all files are unified: name what frames stand for */
	TOPIC_JOIN,      /* the call paths of all threads are one tree, without contexts */
	TOPIC_EXPAND,    /* call paths have contexts: add others */
	TOPIC_METRICS,   /* contexts have their final ids, and sampled metrics exist: add others */
	TOPIC_DESCRIBE,  /* processes and the profiles of threads exist */
	TOPIC_ATTRIBUTE, /* time lines exist */
	TOPIC_N_STEPS
};

/* What a topic knows of a file; topics add to it. */
struct topic_file {
	uint64_t last_ns;    /* the latest time in its records, CLOCK_MONOTONIC; 0: unknown */
	uint32_t n_profiles; /* besides those of threads */
};

/* A row. Functions are NULL where there is nothing to do. False: memory is short. */
struct topic_ops {
	size_t state_bytes; /* of `state`, which is zero at first; 0: it has none */
	bool (*steps[TOPIC_N_STEPS])(void *state, struct topic_run *r);
	/* Sets its member of `names`, for merge_thread(). Any thread may call it. */
	void (*take_file)(const void *state, size_t file, struct merge_names *names);
	/* Sets needed[] of modules whose structures TOPIC_EXPAND needs. n: all modules. */
	bool (*need)(const void *state, const struct topic_run *r, bool *needed, size_t n);
	void (*describe_file)(const void *state, uint32_t file, struct topic_file *f);
	/* Its values of a thread; it keeps them. */
	const struct sum_extra *(*values)(const void *state, const struct topic_thread *t,
					  size_t *n);
	void (*close)(void *state);
};

/* The state of another topic of the run. */
void *topic_state(const struct topic_run *r, const struct topic_ops *topic);

/* ---- threads ---- */

struct load_thread *topic_thread(const struct topic_run *r, size_t i);
/* Others may still be at work on the file. */
bool topic_is_last_of_file(const struct topic_run *r, size_t i);

/* Where the threads and nodes of files are in the model. */
struct topic_where {
	const void *arg;
	uint32_t (*profile)(const void *arg, uint32_t file, uint32_t thread);
	/* MODEL_NONE: the node is damaged */
	uint32_t (*context)(const void *arg, uint32_t file, uint32_t thread, uint32_t node);
};

/*
 * For TOPIC_ATTRIBUTE. A node 0, that of a call without a path, gives the entry of its thread,
 * which is the first sound node.
 */
struct topic_where topic_where(const struct topic_run *r);
/*
 * The context of a sound node before time lines exist: of struct expand in TOPIC_EXPAND, then of
 * the model. `run`: a struct topic_run.
 */
uint32_t topic_node_context(const void *run, uint32_t file, uint32_t thread, uint32_t node);

/* ---- parts that share the job ---- */

/*
 * End a step of all parts. The first one is true if all are `ok` and have the same `hash` of their
 * models; the other one makes what occurs in some part occur in all.
 */
bool topic_agree_on(const struct topic_run *r, bool ok, uint64_t (*hash)(const struct model *m));
bool topic_share_occurs(const struct topic_run *r, bool ok, bool *occurs, size_t n);

#endif
