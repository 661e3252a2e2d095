/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two sides of runs, reduced to one tree of call paths. compare_add() copies what it needs of a
 * model, so the caller may free the model before it opens the next one.
 *
 * Functions are matched by name and module (compare_names.h), and by name alone if that leaves no
 * doubt: a function that is inlined into another module is the same function. A call path consists
 * of its functions, called or inlined; loops and the lines of calls are not part of it. A function
 * without a name is identified by its address if all runs have the same build of its module;
 * otherwise all code without names of the module is one function (compare_settle.c). A line is a
 * leaf below its function. A parent's index is smaller than those of its children. Node 0 is the
 * root. One owner; constant after compare_settle(). Test: tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_H
#define HPCPROF_COMPARE_COMPARE_H

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

enum compare_side { COMPARE_BASE, COMPARE_NEW, COMPARE_N_SIDES };

/* Names are ids of strings in struct compare. */
struct compare_function {
	uint32_t name, module; /* module "": the program itself, whatever its file is called */
	uint32_t file, line;   /* of the definition in the latest run; 0 and 0: unknown */
	uint32_t next;         /* function of the same name in another module, or MODEL_NONE */
	bool is_kernel;        /* ran as a kernel on a GPU */
	bool is_on[COMPARE_N_SIDES];
};

struct compare_line {
	uint32_t function; /* index */
	uint32_t file;
	uint32_t line; /* its number in the latest run */
};

enum compare_node_kind { COMPARE_ROOT, COMPARE_ENTRY, COMPARE_FUNCTION, COMPARE_LINE };

struct compare_node {
	uint32_t parent;
	uint8_t kind;      /* enum compare_node_kind */
	bool is_outermost; /* FUNCTION: no parent is the same function */
	uint32_t id;       /* ENTRY: its name; FUNCTION, LINE: index */
};

struct compare_metric {
	uint32_t name, event;
	enum model_unit unit;
	bool is_of_pc_samples; /* as in struct model_metric */
	uint8_t kind, role; /* as in struct model_metric */
	uint32_t divisor;   /* GPU_MEAN: index; others: MODEL_NONE */
	uint32_t n_runs;    /* runs that measured it */
};

/* The own value of a node in a run. */
struct compare_cell {
	uint32_t node, metric;
	double sum, variance; /* the variance that sampling causes */
	uint64_t n;           /* samples or operations */
};

/* The value of a rank in a run. */
struct compare_rank {
	uint32_t rank; /* index */
	uint32_t metric;
	double sum;
};

struct compare_run {
	uint8_t side;
	uint32_t path; /* of the measurement */
	uint32_t program; /* its name; "": unknown */
	uint32_t command; /* its command line; "": unknown */
	uint32_t n_processes, n_threads, n_ranks;
	uint64_t elapsed_ns;
	bool is_complete; /* the ledger closes and no process was still running */
	bool has_gpu;     /* a GPU back end was active, even if it saw no operation */
	bool lacks_names; /* a binary of the program has changed since it ran */
	VEC(struct compare_cell) cells;
	VEC(struct compare_rank) ranks;
};

/* The builds of all modules with one name. */
struct compare_build {
	uint32_t id; /* build id of the latest one, in hexadecimal digits */
	uint32_t n_modules;
	uint8_t structure; /* enum model_structure */
	bool differs; /* two of them differ, or one is not known */
};

struct compare_renaming {
	uint32_t from, to; /* names */
	bool is_used;      /* a base run has a function `from` */
};

struct compare {
	struct strtab strings; /* id 0 is "" */
	VEC(struct compare_run) runs;
	VEC(struct compare_function) functions;
	VEC(struct compare_line) lines;
	VEC(struct compare_node) nodes;
	VEC(struct compare_metric) metrics;
	VEC(int32_t) ranks;
	VEC(struct compare_build) builds;
	struct map function_ids, named_ids, line_ids, node_ids, rank_ids, build_ids; /* private */
	VEC(struct compare_renaming) renames; /* in the order of compare_rename() */
};

/* False if memory is short. In all cases call compare_close(). */
bool compare_open(struct compare *c);
void compare_close(struct compare *c);
/* From now on, `from` in a base run is the function `to`. False if memory is short. */
bool compare_rename(struct compare *c, const char *from, const char *to);
/* Adds a run. False if memory is short. */
bool compare_add(struct compare *c, enum compare_side side, const char *path,
		 const struct model *m);

/* Call it after the last compare_add(). False if memory is short. */
bool compare_settle(struct compare *c);

static inline const char *compare_string(const struct compare *c, uint32_t id)
{
	return strtab_get(&c->strings, id);
}
/* The index of the metric with this name, event, or name without its unit, or MODEL_NONE. */
uint32_t compare_find_metric(const struct compare *c, const char *name, size_t n_bytes);
/* True for metrics that are the same in two runs of the same program: counts and bytes. */
bool compare_is_exact(const struct compare *c, uint32_t metric);
/* The function of a node; MODEL_NONE for the root and entries. */
uint32_t compare_function_of(const struct compare *c, uint32_t node);
/* Counts the runs of a side. */
uint32_t compare_count_runs(const struct compare *c, enum compare_side side);

#endif
