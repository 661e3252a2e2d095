/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts measurement files down to what they got in the last seconds. It keeps the values of cells
 * that it has seen, so that each look yields what was added since. Test:
 * tests/cli/live/live_run.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_WINDOW_H
#define HPCPROF_LITE_LIVE_LIVE_WINDOW_H

#include "hpcprof-lite/load/job/load_job.h"

enum { LIVE_LOOKS = 5 }; /* looks that make the window */

struct live_window;

/* NULL if memory is short. */
struct live_window *live_window_new(void);
void live_window_free(struct live_window *w);

/* Files whose processes have ended, by (device, inode): for load_job.skipped. Borrowed. */
const struct map *live_window_ended(const struct live_window *w);

/*
 * Looks at the files of an open job, which has no time lines, at `at_ns` of CLOCK_MONOTONIC.
 * Changes them into what was recorded since LIVE_LOOKS looks before, as far as there were so many:
 * samples, GPU operations and PC samples. What is only summed up over the whole run (calls of MPI,
 * regions, energy) is taken out. A time off the processor that ends in the window counts with the
 * part that fits. *seconds: the length of the window; 0: this is the first look, and the job is
 * of no use. False if memory is short.
 */
bool live_window_cut(struct live_window *w, struct load_job *job, uint64_t at_ns, double *seconds);

#endif
