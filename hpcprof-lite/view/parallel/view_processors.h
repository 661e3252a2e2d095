/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the time of all processors went: what the threads did, and for how long there were fewer of
 * them than the most at one time. The uses add up to elapsed time x threads. Test:
 * tests/unit/prof/test_view_processors.c.
 */
#ifndef HPCPROF_VIEW_VIEW_PROCESSORS_H
#define HPCPROF_VIEW_VIEW_PROCESSORS_H

#include "hpcprof-lite/view/parallel/view_quota.h"

/* What a processor was used for: an enum model_activity, or one of the uses below. */
enum view_use {
	/*
	 * A thread lived, but there are no samples of it. Without OFFCPU: it was blocked, or ready
	 * without a processor; with REALTIME alone also samples of work beyond its CPU time. With
	 * OFFCPU: losses, and the error of the samples.
	 */
	VIEW_USE_UNKNOWN = MODEL_N_ACTIVITIES,
	VIEW_USE_OFF,       /* the measurement was off */
	VIEW_USE_NO_THREAD, /* fewer threads than the most at one time */
	VIEW_N_USES
};

/* One process. */
struct view_process_use {
	uint32_t process;
	uint32_t n_threads;            /* all that it ever had */
	double seconds[VIEW_N_USES];   /* of its threads; NO_THREAD: 0 */
};

struct view_processors {
	double elapsed;
	/* Only threads for which view_is_used_thread() is true. */
	uint32_t n_threads;            /* the most that lived at the same time */
	uint32_t n_all_threads;
	uint32_t n_left_out;           /* other threads, with less CPU time; in no sum */
	/* processors that could be used; unknown, too, if more were used than at the start */
	struct view_quota quota;
	/* of all threads, at most what the processors gave; 0: unknown */
	double cpu_seconds;
	/*
	 * elapsed x n_threads, or the time of all threads where that is more; the sum of `seconds`
	 */
	double capacity;
	double seconds[VIEW_N_USES];
	bool lacks_offcpu; /* so the time of blocked threads is UNKNOWN */
	bool work_has_waits; /* threads worked, or were blocked: see view_bound_work() */
	struct view_process_use *processes; /* of the model, in its order */
	uint32_t n_processes;
	size_t n_ranks;
};

/*
 * Libraries keep threads that only wait: progress threads of MPI, pools of OpenCL. Shells wait for
 * their commands. If they counted, all uses would look small. True for a thread that had CPU time
 * for at least 1 % of its life or waited that long for a lock, a file, OpenMP or a call of MPI.
 * Also true for a thread whose CPU time is not known. A main thread that had CPU time for less than
 * 10 % does not count if another thread had five times as much, and one with less than 1 % counts
 * if no other thread did the work. Not true for threads of a launcher of ranks, and
 * those that a driver or library of GPUs started for itself, if they had less than 10 %.
 */
bool view_is_used_thread(const struct model *m, const struct model_profile *t);
/*
 * Counts the used threads among the profiles [first, end), which are sorted by process: all, or
 * those of one process. *most: the largest number that lived at the same time and matters, also
 * threads of OpenMP teams that did nothing. A number matters if the time with so many threads or
 * more, times the number, is a tenth of the threads' time. In a part by time or function, *most is
 * that of the whole run, so that accounts of adjoining parts add up. False if memory is short.
 */
bool view_count_threads(const struct model *m, uint32_t first, uint32_t end, uint32_t *most,
	uint32_t *all);
/*
 * True if the section has something to say: there is a measured time, several threads, processes,
 * OFFCPU or a GPU, and the model is not a part of the run by functions.
 */
bool view_processors_apply(const struct model *m);
/* False if memory is short. */
bool view_processors_make(const struct model *m, struct view_processors *p);
void view_processors_free(struct view_processors *p);

/*
 * The least, mean and most of one use over the ranks (without ranks: the processes). The processes
 * of a rank, such as a shell and what it starts, add up; the first of them represents the rank.
 */
struct view_spread {
	double least, mean, most;
	uint32_t least_process, most_process;
};
struct view_spread view_processors_spread(const struct view_processors *p, const struct model *m,
	unsigned use);
/* For people: "OpenMP: waited for tasks", and with at most 17 characters, "OpenMP tasks". */
const char *view_use_name(const struct view_processors *p, unsigned use);
const char *view_use_short(const struct view_processors *p, unsigned use);
/* True if REALTIME is the measured time, so samples of work may be those of blocked threads. */
bool view_is_elapsed_time(const struct model *m);

/*
 * Bounds of the time that a thread worked, if its samples of work add up to `work` seconds. With
 * REALTIME alone, it worked at most for its CPU time. It worked at least for its CPU time without
 * the waits of OpenMP, MPI and GPUs, because these may have been spinning. Otherwise both bounds
 * are `work`.
 */
struct view_bounds_of_work {
	double least, most;
};
struct view_bounds_of_work view_bound_work(const struct model *m, uint32_t profile, double work);
/* Work counts as known if `most` is less than this many times `least`. */
#define VIEW_WORK_IS_KNOWN 1.05

#endif
