/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames between the start of a thread and the code of the program: _start and libc's functions
 * above main, clone3 and start_thread above the function of a thread. Every call path has them, so
 * reports show them only if they have a value of their own. Test: tests/unit/test_view_tree.c.
 */
#ifndef HPCPROF_VIEW_VIEW_START_H
#define HPCPROF_VIEW_VIEW_START_H

#include "hpcprof-lite/model/model.h"

/* True for a function that starts threads or the process; `function` may be MODEL_NONE. */
bool view_is_start(const struct model *m, uint32_t function);
/*
 * True for a FUNCTION context of such a function, or of libc without a name, if there is nothing
 * else between it and the entry of a thread.
 */
bool view_is_start_frame(const struct model *m, uint32_t context);

#endif
