/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a recording to the back end: a thread for each recorded stream, of which one runs at a
 * time, in the order of a plan. A thread waits where the recorded one came in (an ENTER) or was
 * inside of a call that takes time, until the plan has come there. So the back end's threads, its
 * locks and its thread-local state are as they were. One recording in a process.
 *
 * Parts: player.c (threads and turns), enter.c (what comes in), stand_in.c and stand_in_pc.c (what
 * goes out), plan.c (order), replay_place.c (the core's run time). Tests: tests/cli/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_PLAYER_H
#define HPCRUN_LITE_REPLAY_PLAYER_H

#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"
#include "hpcrun-lite/replay/tape.h"

#include <pthread.h>

/* A call of the back end that a thread is in. */
struct player_frame {
	struct player_frame *outer;
	uint32_t enter;        /* event; TAPE_NONE: below all */
	uint32_t cursor; /* next event of the stream that may be matched; TAPE_NONE: no more */
	uint32_t now_cursor;   /* likewise, for NOW */
	uint32_t n_now;        /* taken of the LEAVE's */
	uint8_t *buffer;       /* whose records are handed out */
	const uint32_t *offset;
	uint32_t n_records;
};

/* Of one stream. */
struct player_thread {
	uint32_t stream;
	bool is_there, is_idle, is_done, must_end;
	uint32_t waits_for;    /* the CALL that it is in, when idle */
	uint32_t command;      /* event to be done; TAPE_NONE */
	pthread_cond_t wake;
	pthread_t thread;
	int tid;               /* 0: not yet known */
	struct player_frame *frame;
	uint64_t virtual_ns;   /* the last time that it was told */
};

struct player {
	struct tape tape;
	const struct gpu_host *host;
	const char *directory; /* of the recording, for code objects */
	double speed;          /* times faster than it was; 0: without pauses */
	uint32_t *plan;        /* events */
	uint32_t n_plan;
	struct player_thread *threads; /* by stream */
	uint64_t n_stuck;      /* turns that did not end */
	/* the back end's functions */
	CUpti_CallbackFunc callback;
	CUpti_BuffersCallbackRequestFunc request;
	CUpti_BuffersCallbackCompleteFunc complete;
	CUpti_ComputeCrcCallbackFunc crc;
	void (*at_exit)(void);
	void (*at_end)(uint64_t may_wait_ns);
	void (*on_switch)(bool on);
	struct {
		void *(*run)(void *arg);
		void *arg;
	} own[8];
	uint32_t n_own;
	bool *is_played;       /* by event: its turn has come */
	uint64_t *data;        /* by event: what a DRIVER that entered left for its end */
	struct nv_map buffers; /* recorded address -> number + 1 in `given` */
	struct {
		uint8_t *at;
		size_t n_bytes;
	} *given;
	uint32_t n_given, max_given;
	struct nv_map hashes;  /* recorded hash of an image -> the one that was computed now */
	uint64_t n_dropped;    /* records, of which the back end is to be told */
	uint64_t n_missing_images;
};
extern struct player player;

/* Where tests change a replay (tests/replay). NULL in the product. */
struct replay_seam {
	/* Fills p->plan, which has room for all events. Returns false without memory. */
	bool (*plan)(struct player *p);
	/* Puts functions in front of the player's. */
	void (*library)(struct nv_library *l);
};
extern struct replay_seam replay_seam;

/* The calling thread's; NULL: it is none of the player's. */
struct player_thread *player_self(void);

/* Plays all of it. STATUS_IO when it does not get on. */
enum status player_run(void);

/* After it: says that the process ends, where the recording ended before; from the calling
 * thread. */
void player_end(void);

/* Gives the turn away until the plan has come to `call`. False: the player ends. */
bool player_wait(struct player_thread *t, uint32_t call);

/* Gives the turn away for one event of another thread. False: the plan is at its end. */
bool player_yield(struct player_thread *t);

/* ---- plan.c ---- */

/* Makes p->plan: the recorded order. `other`: NULL, or a function that makes another one. */
enum status plan_make(struct player *p, bool (*other)(struct player *p));

/* ---- enter.c ---- */

/* Calls the back end as recorded. */
void enter_do(struct player_thread *t, uint32_t event);

/* ---- stand_in.c ---- */

/* The table, without PC sampling; and that of stand_in_pc.c, added to it. */
void stand_in_library(struct nv_library *l);
void stand_in_pc(struct nv_library *l);
/* The CALL of this function that the calling thread's recorded one made here, waited for when it
 * takes time; NULL: it made none. key: NULL, or what key[0] must be. */
const struct recording_call *stand_in_call(enum recording_function f, const uint64_t *key);
/* A call that the recorded thread, one of the back end's own, was still in when the recording
 * ended: the calling thread rests for good. */
void stand_in_rest(void);
/* What was answered, as now or at another time. NULL: never. */
const struct recording_call *stand_in_answer(enum recording_function f, uint64_t key0,
					     uint64_t key1);

/* ---- replay_place.c ---- */

/* The core's run time. `directory` is where the replay writes. */
const struct gpu_runtime *place_runtime(const char *directory, uint64_t handler_ns);
/* Sets what a launch inside of the event is told. */
void place_set(uint32_t event);
/* Nothing is written any more. */
void place_end(void);

/* ---- replay_image.c ---- */

/* A code object of the recording; NULL when it is not there, which is said once. */
const void *image_find(const uint64_t hash[2], uint64_t n_bytes);

#endif
