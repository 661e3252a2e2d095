/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calling context tree, the metric cells and the time line of one thread. Their memory is the measurement file; only the index that
 * finds a node by (parent, address) is private. One writer: the thread itself, in its signal handler. Everything is signal-safe
 * and keeps errno. What cannot be stored is reported as a loss for the caller to count. Tests: tests/unit/test_cct.c.
 */
#ifndef HPCRUN_LITE_CCT_CCT_H
#define HPCRUN_LITE_CCT_CCT_H

#include "common/format/measurement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cct;

struct cct_options {
	uint32_t thread;     /* number of the thread in the file */
	bool is_main;        /* complete paths start at MSR_ENTRY_MAIN, else at MSR_ENTRY_THREAD */
	uint32_t max_depth;  /* frames of the longest path that may be given */
	uint32_t max_nodes;  /* bound on context nodes, at most MSR_TRACE_NODE_MAX */
};

/* Bytes of memory for a tree, of which only the pages in use are touched. */
size_t cct_bytes(uint32_t max_depth);

/* An empty tree in zeroed memory of cct_bytes(), aligned to 64, the caller's. Takes no space in the file yet. Never fails. */
struct cct *cct_init(void *memory, const struct cct_options *options);

struct cct_path {
	const uint64_t *addr; /* packed addresses, leaf first; module 0 (no module) is recorded as MSR_MODULE_UNKNOWN */
	uint32_t n;           /* 0: the sample belongs to the entry point itself */
	uint32_t n_same;      /* the outermost n_same frames and `end` are those of the path given before */
	enum msr_path_end end;
};

/*
 * The node of the path, made if need be. False: *cause says why there is none (what was made of its outer frames stays).
 * Cost: one look-up for each frame that is not in n_same.
 */
bool cct_insert(struct cct *tree, const struct cct_path *path, uint32_t *node, enum msr_loss *cause);

/* A path was walked that is not inserted: the next n_same does not speak of the path inserted last. */
void cct_forget_path(struct cct *tree);

/* Adds `count` samples with a weight of `sum` to a node's cell of a metric. */
bool cct_add(struct cct *tree, uint32_t node, uint32_t metric, uint64_t count, uint64_t sum, enum msr_loss *cause);

/* Appends a record to the time line; now_ns of CLOCK_MONOTONIC, not before the record before it. */
bool cct_trace(struct cct *tree, uint32_t node, uint32_t metric, uint64_t now_ns, enum msr_loss *cause);

/* Unused space goes back to the store; the tree may go on all the same. */
void cct_trim(struct cct *tree);

/* At the end of the thread: unused space goes back to the store, the index is released. No call may follow but cct_init. */
void cct_finish(struct cct *tree);

/* In the child of fork: releases the index and leaves the parent's file alone. No call may follow but cct_init. */
void cct_forget(struct cct *tree);

/* Nodes made, the root included. */
uint32_t cct_n_nodes(const struct cct *tree);

#endif
