/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topic is one kind of data that attribution handles besides samples and their call paths: Python
 * frames, MPI calls, energy, ... Each topic has one row in the table of attribute/topics.c and
 * defines the row in its own file. attribute.c runs the steps in order. In each step it calls all
 * topics, in the order of the table.
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
	unsigned worker;       /* the worker whose tree has its nodes; private to attribute */
};

/* Maps the nodes of a tree to nodes of the whole tree. */
struct topic_nodes {
	uint32_t *at; /* NULL: the numbers are the same; owned by attribute */
	size_t n;
};

/* What all topics work on. It changes from step to step. */
struct topic_run {
	struct load_job *job; /* the model owns it */
	struct model *m;
	struct comm *comm;    /* as in struct attribute_options */
	unsigned n_workers;
	bool internals, ranges;
	struct merge_modules *modules;
	uint32_t **module_of;  /* by file, then module id of the file */
	/* in the order of files; GPU queues are not in the list */
	VEC(struct topic_thread) threads;
	uint32_t *first_thread; /* by file, with an end entry: its first thread in the list above */
	uint32_t *first_profile; /* by file: the profile of its first thread */
	struct expand *expand;
	const struct expand_module *expand_modules; /* by module; only in TOPIC_EXPAND */
	const uint32_t *context_of;     /* by node of the whole tree, from TOPIC_EXPAND on */
	struct topic_nodes *to_whole;   /* by worker */
	const struct topic_ops *const *topics;
	void **states; /* by topic */
};

enum topic_step {
	/* the files are loaded; a topic may add modules to them and shift their times */
	TOPIC_OPEN,
	TOPIC_NAME,      /* the modules of all files are unified: name what frames stand for */
	TOPIC_JOIN,      /* the call paths of all threads are one tree, without contexts */
	TOPIC_EXPAND,    /* call paths have contexts: add others */
	TOPIC_METRICS,   /* contexts have their final ids, and sampled metrics exist: add others */
	TOPIC_DESCRIBE,  /* processes and the profiles of threads exist */
	TOPIC_ATTRIBUTE, /* time lines exist */
	TOPIC_N_STEPS
};

/* What topics know about a file. Each topic adds to it. */
struct topic_file {
	uint64_t last_ns;    /* the latest time in its records, CLOCK_MONOTONIC; 0: unknown */
	uint32_t n_profiles; /* profiles that do not belong to threads */
};

/*
 * A row of the table. A function is NULL if the topic has nothing to do there. False: memory is
 * short.
 */
struct topic_ops {
	size_t state_bytes; /* size of `state`, which starts as zeros; 0: no state */
	bool (*steps[TOPIC_N_STEPS])(void *state, struct topic_run *r);
	/* Sets its member of `names`, for merge_thread(). Any thread may call it. */
	void (*take_file)(const void *state, size_t file, struct merge_names *names);
	/* Sets needed[] of modules whose structures TOPIC_EXPAND needs. n: all modules. */
	bool (*need)(const void *state, const struct topic_run *r, bool *needed, size_t n);
	void (*describe_file)(const void *state, uint32_t file, struct topic_file *f);
	/* The topic's values of a thread. The topic keeps owning them. */
	const struct sum_extra *(*values)(const void *state, const struct topic_thread *t,
					  size_t *n);
	void (*close)(void *state);
};

/* The state of another topic of the run. */
void *topic_state(const struct topic_run *r, const struct topic_ops *topic);

/* ---- threads ---- */

struct load_thread *topic_thread(const struct topic_run *r, size_t i);
/* True if thread `i` is the last of its file. Other workers may still be working on the file. */
bool topic_is_last_of_file(const struct topic_run *r, size_t i);

/* Where the threads and nodes of files are in the model. */
struct topic_where {
	const void *arg;
	uint32_t (*profile)(const void *arg, uint32_t file, uint32_t thread);
	/* MODEL_NONE: the node is damaged */
	uint32_t (*context)(const void *arg, uint32_t file, uint32_t thread, uint32_t node);
};

/*
 * For TOPIC_ATTRIBUTE. Node 0 means a call without a path. It gives the entry of its thread, which
 * is the first sound node.
 */
struct topic_where topic_where(const struct topic_run *r);
/*
 * The context of a sound node before time lines exist: a context of struct expand in TOPIC_EXPAND,
 * and of the model afterwards. `run`: a struct topic_run.
 */
uint32_t topic_node_context(const void *run, uint32_t file, uint32_t thread, uint32_t node);

/* ---- parts that share the job ---- */

/*
 * These end a step of all parts. The first returns true if all parts are `ok` and their models have
 * the same `hash`. The second makes what occurs in some part occur in all.
 */
bool topic_agree_on(const struct topic_run *r, bool ok, uint64_t (*hash)(const struct model *m));
bool topic_share_occurs(const struct topic_run *r, bool ok, bool *occurs, size_t n);

#endif
