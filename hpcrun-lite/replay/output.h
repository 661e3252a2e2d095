/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement that a replay writes. Its CPU side (threads, modules, call paths, samples, time
 * lines) is copied from the original, byte for byte. The GPU core adds the GPU side. Test:
 * tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_OUTPUT_H
#define HPCRUN_LITE_REPLAY_OUTPUT_H

#include "common/base/status.h"
#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stdint.h>

#define OUTPUT_MAX_THREADS (1u << 20)

/* Facts that only the original measurement has. */
struct output_facts {
	uint64_t handler_ns;   /* time spent in the back end's launch handlers */
	bool has_others;       /* other back ends had operations, which the replay leaves out */
};

/*
 * Makes the file `name` in `directory` and copies the CPU side of the measurement `original` into
 * it. The name is the recorded one: if one process executed several programs, only the names
 * distinguish them. The store is open afterwards. `backend` is the number of the back end that is
 * played.
 */
enum status output_open(const char *original, const char *directory, const char *name,
			unsigned backend, struct output_facts *facts);
/* Writes a note for the user, unless the original has it. */
void output_note(const char *text);
/* Closes the file. The process's end time is copied from the original. */
void output_close(void);

/* Copies a regular file. */
enum status output_copy_file(const char *from, const char *to);

#endif
