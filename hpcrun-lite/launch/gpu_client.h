/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU back ends as the user names them, "-e gpu=NAME[,OPTIONS]", and what their modules say of this machine. Not for the measured process.
 * Test: tests/unit/test_launch.c, tests/cli/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_GPU_CLIENT_H
#define HPCRUN_LITE_LAUNCH_GPU_CLIENT_H

#include "common/base/status.h"
#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

#define GPU_CLIENT_PREFIX "gpu="

/* Adds what stands behind "gpu=" to `c`. STATUS_USAGE: no such back end or option, or given twice (logged, with what exists). */
enum status gpu_client_parse(const char *text, struct config *c);

/* --record-gpu: adds `option` to those of gpu=nvidia, unless it is there. False: that was not asked for, or its options are too long. */
bool gpu_client_record(struct config *c, const char *option);

/*
 * Asks the modules in `library_directory` and sets which are to be preloaded. False: one cannot be had (logged). What is unusual is logged as a note.
 */
bool gpu_client_check(const char *library_directory, struct config *c);

/* Prints the GPU part of the list of events to standard output. */
void gpu_client_list(const char *library_directory);

#endif
