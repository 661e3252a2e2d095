/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU back ends as the user names them, "-e gpu=NAME[,OPTIONS]", and what their modules find on
 * this machine. Not for the measured process. Tests: tests/unit/run/test_launch.c,
 * tests/cli/launch/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_GPU_CLIENT_H
#define HPCRUN_LITE_LAUNCH_GPU_CLIENT_H

#include "common/base/status.h"
#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

#define GPU_CLIENT_PREFIX "gpu="

/*
 * Adds the back end after "gpu=" to `c`. STATUS_USAGE (logged, with the valid names): unknown back
 * end or option, or given twice.
 */
enum status gpu_client_parse(const char *text, struct config *c);

/*
 * For --record-gpu: adds `option` to the options of gpu=nvidia unless it is there. Refuses if the
 * user did not ask for gpu=nvidia, or its options are too long or exclude it.
 */
enum status gpu_client_record(struct config *c, const char *option);

/*
 * Asks the modules in `library_directory` and sets which of them are preloaded. Returns false, and
 * logs why, if one is not available. Unusual answers are logged as notes.
 */
bool gpu_client_check(const char *library_directory, struct config *c);

#define GPU_CLIENT_MOST 2u

struct gpu_client_answer {
	const char *name, *about, *options; /* of the back end; options: "" for none */
	/* as struct gpu_probe's list; what it says is foreign text. Free it. NULL: no memory */
	char *text;
};

/* Asks all back ends what is here. */
void gpu_client_ask(const char *library_directory, struct gpu_client_answer to[GPU_CLIENT_MOST]);

#endif
