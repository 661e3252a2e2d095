/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher asks a back end's module before a run. The launcher does this in a child
 * process that ends with the answer, because libraries of vendors start threads, print and crash.
 * Not for the measured process. Test: tests/cli/launch/launch_gpu.sh.
 */
#ifndef HPCRUN_LITE_GPU_GPU_PROBE_H
#define HPCRUN_LITE_GPU_GPU_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#define GPU_PROBE_SYMBOL "hpcrun_lite_gpu_probe"

struct gpu_probe {
	/*
	 * Returns true if the module must be preloaded on this machine with the user's options.
	 * `why` is a message for the user, or "". It is not an error, because a program may bring
	 * what the machine lacks. May load libraries but must not start devices.
	 */
	bool (*wants_preload)(const char *options, char *why, size_t why_bytes);
	/*
	 * Writes lines to the descriptor. "+TEXT" says in short what can be measured here.
	 * "!LOST\tWHY\tCURE" is something that cannot, although its users will expect it; LOST and
	 * WHY have at most 72 columns together, CURE has at most 74 and may be "". "-WHY" says why
	 * there is no device. Others describe devices.
	 */
	void (*list)(int fd);
};

#endif
