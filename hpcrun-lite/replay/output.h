/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement that a replay writes: what the original says of the CPU side (threads, modules,
 * call paths, samples, time lines), byte for byte, into a new file, to which the core then adds
 * what GPUs did. Test: tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_OUTPUT_H
#define HPCRUN_LITE_REPLAY_OUTPUT_H

#include "common/base/status.h"
#include "common/format/measurement_gpu.h"

#include <stdbool.h>
#include <stdint.h>

#define OUTPUT_MAX_THREADS (1u << 20)

/* What the original says that a replay cannot know. */
struct output_facts {
	uint64_t handler_ns;   /* of the back end's launches */
	bool has_others;       /* operations of other back ends, which are left out */
};

/* Makes the file `name` in `directory`, as the recorded process named its own (images of one
 * process, by exec, differ in nothing else), and copies the CPU side of the measurement `original`
 * into it. The store is then open. `backend`: the number of the one that is played. */
enum status output_open(const char *original, const char *directory, const char *name,
			unsigned backend, struct output_facts *facts);
/* A note for the user, unless the original has it. */
void output_note(const char *text);
/* Closes the file; its end is that of the original. */
void output_close(void);

/* Copies a regular file. */
enum status output_copy_file(const char *from, const char *to);

#endif
