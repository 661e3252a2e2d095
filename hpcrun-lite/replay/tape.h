/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and checks a whole recording: its events by stream and by order, their nesting, its texts
 * and answers. Not thread-safe during loading, constant afterwards. Tests:
 * tests/unit/cupti/test_recording.c, tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_TAPE_H
#define HPCRUN_LITE_REPLAY_TAPE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"
#include "common/format/recording.h"

#define TAPE_NONE UINT32_MAX

/*
 * An event is identified by its place in the order of the recording. STREAM and STRING are not
 * events.
 */
struct tape_event {
	const struct recording_event *head;
	uint32_t stream;
	uint32_t parent;   /* the innermost ENTER around it, in its stream; TAPE_NONE */
	uint32_t leave;    /* of an ENTER: its LEAVE; TAPE_NONE: there is none */
	uint32_t partner;  /* the entry of a driver call <-> its end; TAPE_NONE */
	uint32_t next;     /* next event of its stream; TAPE_NONE: none */
};

struct tape_stream {
	uint32_t tid;
	uint32_t first, last; /* events; TAPE_NONE: it has none */
	uint64_t last_order;  /* of its last event so far, while loading */
};

struct tape_text {
	uint64_t pointer, order;
	const char *text;
};

struct tape {
	struct mapfile file;     /* if loaded by tape_load_bytes, its bytes are NULL */
	const struct recording_header *header;
	struct tape_event *event;
	uint32_t n_events;
	struct tape_stream *stream;
	uint32_t n_streams;
	struct tape_text *text;  /* sorted by pointer, then order */
	uint32_t n_texts;
	uint32_t *answer;        /* CALLs, sorted by function, keys and order */
	uint32_t n_answers;
	uint64_t n_damaged;      /* bytes */
};

/*
 * Reads a recording, and logs errors. If parts are damaged, reads the rest; n_damaged is the number
 * of bytes that were not read.
 */
enum status tape_load(const char *path, struct tape *t);
/*
 * The same for bytes in memory, aligned as in a file. The caller owns them, and they must outlive
 * *t.
 */
enum status tape_load_bytes(const char *name, const void *bytes, size_t n_bytes, struct tape *t);
void tape_free(struct tape *t);

/* Returns the text that was at a pointer at this time in the order. NULL: unknown. */
const char *tape_text_at(const struct tape *t, uint64_t pointer, uint64_t order);
/*
 * Returns the answer of a function for these keys: the last one before `order`, or else the first.
 * NULL: it was never asked.
 */
const struct recording_call *tape_answer(const struct tape *t, enum recording_function f,
					 uint64_t key0, uint64_t key1, uint64_t order);

static inline bool tape_is_enter(const struct tape_event *e, enum recording_entry entry)
{
	return e->head->type == RECORDING_ENTER && e->head->what == entry;
}

/*
 * Returns true if a call took time in which other threads could act. The player's thread waits in
 * that call.
 */
bool tape_is_long(const struct tape_event *e);
/*
 * Returns true if a thread may have to wait for its turn at this event. True for all events except
 * immediate answers.
 */
bool tape_has_turn(const struct tape_event *e);

#endif
