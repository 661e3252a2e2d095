/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples by kernel: who launched it, which of its lines have the samples (including inlined
 * code and the device functions it calls), and what the warps waited for. Sums over all contexts of
 * the kernel. Test: tests/unit/prof/test_view_gpu.c, tests/cli/prof/prof_gpu_pc.sh.
 */
#ifndef HPCPROF_VIEW_VIEW_HOT_H
#define HPCPROF_VIEW_VIEW_HOT_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct view_hot_line {
	uint32_t kernel;  /* index */
	uint32_t context; /* the context with the most samples on this line; it names the line */
	double most, samples;
	size_t stalls; /* index of the first of its n_stalls values in view_hot.values */
};

struct view_hot_launcher {
	bool on_guess;    /* a frame between the place and the kernel was guessed */
	uint32_t kernel;  /* index */
	/*
	 * The CPU line (or function, or entry) that launched it: the innermost in the program's own
	 * code.
	 */
	uint32_t context;
	uint32_t node;    /* the placeholder "<graph node of ...>" between, or MODEL_NONE */
	double seconds, n, samples, apportioned;
};

struct view_hot_kernel {
	uint32_t function;
	double seconds, n; /* from GKER (sec) and GKER:COUNT */
	double samples, apportioned;
	double measured, expected;          /* GSAMP:TOT and GSAMP:EXP; 0: unknown */
	size_t stalls;                      /* as in view_hot_line */
	size_t first_line, n_lines;         /* into lines, by falling samples */
	size_t first_launcher, n_launchers; /* into launchers, by falling time */
};

struct view_hot {
	/* kernels with samples, by falling time, then samples */
	VEC(struct view_hot_kernel) kernels;
	VEC(struct view_hot_line) lines;
	VEC(struct view_hot_launcher) launchers;
	VEC(double) values;
	uint32_t *stalls, n_stalls; /* metrics of stall reasons: ISSUED, STALL and STALL_IDLE */
	double samples, apportioned;
};

/*
 * Without PC samples the result is empty. False if memory is short; then there is nothing to close.
 */
bool view_hot_open(const struct model *m, struct view_hot *h);
void view_hot_close(struct view_hot *h);
/* The index of the idle part of the stall at index `stall`; n_stalls if there is none. */
uint32_t view_hot_idle_part(const struct model *m, const struct view_hot *h, uint32_t stall);
/* True for samples in which the warp issued; they are not a stall. */
bool view_hot_is_issued(const struct model *m, const struct view_hot *h, uint32_t stall);

struct view_hot_reason {
	uint32_t stall; /* index */
	double value;
};
/*
 * Ranks the stall reasons of a kernel or line by falling samples, without idle parts. `values` is
 * its `stalls`. `to` has room for n_stalls. Returns the number of reasons with samples.
 */
size_t view_hot_rank(const struct model *m, const struct view_hot *h, size_t values,
		     struct view_hot_reason *to);

#endif
