/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher asks of a GPU back end's module before a run, in a process of its own that ends with the answer: vendors' libraries start threads, print
 * and crash as they like. Not for the measured process. Test: tests/cli/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_GPU_GPU_PROBE_H
#define HPCRUN_LITE_GPU_GPU_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define GPU_PROBE_SYMBOL "hpcrun_lite_gpu_probe"

struct gpu_probe {
	/*
	 * Whether the module has to be preloaded for programs of this machine, given the user's options. `why` is what the user should know, "" for nothing: it is
	 * no error, since a program may bring what the machine lacks. May load libraries, must not start devices.
	 */
	bool (*wants_preload)(const char *options, char *why, size_t why_bytes);
	/* Writes a line for each device to the descriptor; when there is none, one line that starts with '-' and says why. */
	void (*list)(int fd);
};

#endif
