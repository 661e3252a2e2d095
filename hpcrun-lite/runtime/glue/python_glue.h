/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Python frames need from the run time: records, and a module for their addresses. Test:
 * tests/cli/python/python_frames.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_GLUE_PYTHON_GLUE_H
#define HPCRUN_LITE_RUNTIME_GLUE_PYTHON_GLUE_H

/* A row of runtime/life/parts.h; python_forked() is the rest of it. */
void python_glue_start(void);

#endif
