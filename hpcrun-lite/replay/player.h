/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a recording to the back end. Each recorded stream has a thread; one of them runs at a time,
 * in the order of a plan. A thread waits at each ENTER and in each call that takes time, until the
 * plan gives it the turn. So the back end uses threads, locks and thread-local variables as in the
 * recorded run. A process plays one recording.
 *
 * Parts: player.c (threads and turns), plan.c (order), enter.c (calls into the back end),
 * stand_in.c and stand_in_pc.c (calls by the back end), replay_place.c (the run time for the core).
 * Test: tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_PLAYER_H
#define HPCRUN_LITE_REPLAY_PLAYER_H

#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"
#include "hpcrun-lite/replay/tape.h"

#include <pthread.h>

/* A call into the back end that a thread is in. */
struct player_frame {
	struct player_frame *outer;
	uint32_t enter;        /* event; TAPE_NONE: in no call */
	uint32_t cursor; /* next event of the stream that may be matched; TAPE_NONE: no more */
	uint32_t now_cursor;   /* likewise, for NOW */
	uint32_t n_now;        /* how many of the times in the LEAVE were used */
	uint8_t *buffer;       /* the buffer that the back end reads now */
	const uint32_t *offset;
	uint32_t n_records;
};

/* The thread of one stream. */
struct player_thread {
	uint32_t stream;
	bool is_there, is_idle, is_done, must_end;
	uint32_t waits_for;    /* the CALL that it is in, when idle */
	uint32_t command;      /* event to play; TAPE_NONE */
	pthread_cond_t wake;
	pthread_t thread;
	int tid;               /* 0: not yet known */
	struct player_frame *frame;
	uint64_t virtual_ns;   /* the last time that the thread got */
};

struct player {
	struct tape tape;
	const struct gpu_host *host;
	const char *directory; /* of the recording, for code objects */
	double speed;          /* factor; 0: without pauses */
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
	uint64_t *data; /* by event: value that the entry of a driver call left for its end */
	struct nv_map buffers; /* recorded address -> number + 1 in `given` */
	struct {
		uint8_t *at;
		size_t n_bytes;
	} *given;
	uint32_t n_given, max_given;
	struct nv_map hashes;  /* recorded hash of an image -> its hash now */
	uint64_t n_dropped; /* dropped records that the back end has not been told about yet */
	uint64_t n_missing_images;
};
extern struct player player;

/* Hooks for tests that change a replay (tests/replay). NULL in the product. */
struct replay_seam {
	/* Fills p->plan, which has room for all events. Returns false if there is no memory. */
	bool (*plan)(struct player *p);
	/* Puts functions in front of the player's. */
	void (*library)(struct nv_library *l);
};
extern struct replay_seam replay_seam;

/* The calling thread. NULL: it is not one of the player's threads. */
struct player_thread *player_self(void);

/* Plays the whole plan. STATUS_IO: the replay got stuck. */
enum status player_run(void);

/*
 * After player_run, if the recording ended before the process did: tells the back end that the
 * process ends. Runs in the calling thread.
 */
void player_end(void);

/* Gives the turn away until the plan comes to `call`. Returns false if the player ends. */
bool player_wait(struct player_thread *t, uint32_t call);

/* Gives the turn away for one event of another thread. Returns false at the end of the plan. */
bool player_yield(struct player_thread *t);

/* ---- plan.c ---- */

/* Makes p->plan, in the recorded order. `other`: NULL, or a function that makes another plan. */
enum status plan_make(struct player *p, bool (*other)(struct player *p));

/* ---- enter.c ---- */

/* Makes a recorded call into the back end. */
void enter_do(struct player_thread *t, uint32_t event);

/* ---- stand_in.c ---- */

/* Fill the table: stand_in_library all except PC sampling, stand_in_pc only PC sampling. */
void stand_in_library(struct nv_library *l);
void stand_in_pc(struct nv_library *l);
/*
 * Returns the recorded call of this function at the calling thread's current place. If the call
 * took time, waits for its turn. NULL: there was no such call. `key`: NULL, or the value that
 * key[0] must have.
 */
const struct recording_call *stand_in_call(enum recording_function f, const uint64_t *key);
/*
 * The recording ended while one of the back end's own threads was in this call: the calling thread
 * rests for good.
 */
void stand_in_rest(void);
/*
 * Returns the recorded answer for these keys, from now or another time. NULL: it was never asked.
 */
const struct recording_call *stand_in_answer(enum recording_function f, uint64_t key0,
					     uint64_t key1);

/* ---- replay_place.c ---- */

/* The run time that the core sees. `directory` is where the replay writes. */
const struct gpu_runtime *place_runtime(const char *directory, uint64_t handler_ns);
/* Sets the place of launches inside this event. */
void place_set(uint32_t event);
/* From now on, nothing is written. */
void place_end(void);

/* ---- replay_image.c ---- */

/* A code object of the recording. NULL: it is missing; a message says so once. */
const void *image_find(const uint64_t hash[2], uint64_t n_bytes);

#endif
