/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recording, read whole and checked: its events by stream and by order, their nesting, its texts
 * and answers. Not thread-safe while it is loaded, constant afterwards. Tests:
 * tests/unit/test_recording.c, tests/cli/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_TAPE_H
#define HPCRUN_LITE_REPLAY_TAPE_H

#include "common/base/mapfile.h"
#include "common/base/status.h"
#include "common/format/recording.h"

#define TAPE_NONE UINT32_MAX

/* Events are known by their number: their place in the order of the recording. STREAM and STRING
 * are none. */
struct tape_event {
	const struct recording_event *head;
	uint32_t stream;
	uint32_t parent;   /* the ENTER that it lies in, in its stream; TAPE_NONE */
	uint32_t leave;    /* of an ENTER: its LEAVE; TAPE_NONE: the process ended before it, or the
			      recording */
	uint32_t partner;  /* of a DRIVER that is left: that which entered, and back; TAPE_NONE */
	uint32_t next;     /* of its stream; TAPE_NONE */
};

struct tape_stream {
	uint32_t tid;
	uint32_t first, last; /* events; TAPE_NONE: there is none */
	uint64_t last_order;  /* of its events, while they are read */
};

struct tape_text {
	uint64_t pointer, order;
	const char *text;
};

struct tape {
	struct mapfile file;     /* bytes NULL: of tape_load_bytes */
	const struct recording_header *header;
	struct tape_event *event;
	uint32_t n_events;
	struct tape_stream *stream;
	uint32_t n_streams;
	struct tape_text *text;  /* by pointer, then order */
	uint32_t n_texts;
	uint32_t *answer;        /* CALLs by function, keys and order */
	uint32_t n_answers;
	uint64_t n_damaged;      /* bytes */
};

/* Reads a recording. What cannot be read is logged; where only parts are damaged, the rest is read
 * and n_damaged says how much is not. */
enum status tape_load(const char *path, struct tape *t);
/* The same of bytes in memory, aligned like a file's, which stay the caller's and must outlive
 * *t. */
enum status tape_load_bytes(const char *name, const void *bytes, size_t n_bytes, struct tape *t);
void tape_free(struct tape *t);

/* The text that lay at a pointer at that time; NULL: not known. */
const char *tape_text_at(const struct tape *t, uint64_t pointer, uint64_t order);
/* The answer that a function gave for these keys, the last one before `order` or else the first;
 * NULL: it was never asked. */
const struct recording_call *tape_answer(const struct tape *t, enum recording_function f,
					 uint64_t key0, uint64_t key1, uint64_t order);

static inline bool tape_is_enter(const struct tape_event *e, enum recording_entry entry)
{
	return e->head->type == RECORDING_ENTER && e->head->what == entry;
}

/* Whether a call took time during which others could do something: a player's thread waits in
 * it. */
bool tape_is_long(const struct tape_event *e);
/* Whether a thread may have to wait for its turn at this event: all but answers that are given at
 * once. */
bool tape_has_turn(const struct tape_event *e);

#endif
