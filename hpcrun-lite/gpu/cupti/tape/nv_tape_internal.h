/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the recorder: its start (nv_tape.c), calls into the back end (nv_tape_enter.c),
 * calls by the back end (nv_tape_call.c, nv_tape_pc.c), their events (nv_tape_event.c), and the
 * file (nv_tape_file.c). Each part calls only parts further down this list. Test:
 * tests/cli/gpu/replay.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_INTERNAL_H
#define HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_INTERNAL_H

#include "common/format/recording.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#define TAPE_MAX_DEPTH 8u  /* nested calls into the back end */
#define TAPE_MAX_NOW 6u    /* times stored with one call; further ones become separate events */

struct tape_frame {
	uint64_t enter;
	uint16_t entry;        /* enum recording_entry */
	uint32_t n_now;
	uint64_t now[TAPE_MAX_NOW];
};

/* The state of one thread. */
struct tape_thread {
	struct tape_thread *next; /* in the list of free states */
	struct recording_chunk *chunk;
	/*
	 * The event being written. If a signal handler of the program interrupts it and records,
	 * the recording ends.
	 */
	struct recording_event *open;
	uint32_t stream, sequence, next_bytes;
	uint32_t depth;
	struct tape_frame frame[TAPE_MAX_DEPTH];
};

/* The functions that the recorder passes calls to. */
extern struct nv_library tape_real;

/* ---- nv_tape_file.c ---- */

/* Makes the file. On failure returns false; `why` is then a constant string. */
bool tape_open(uint64_t max_bytes, const char **why);
/* Returns true if this process is recorded. */
bool tape_is_on(void);
/* Returns the next order number; all events share one sequence. */
uint64_t tape_order(void);
/* Returns the state of the calling thread. NULL: no memory; the recording has ended. */
struct tape_thread *tape_thread(void);
/*
 * Returns room for an event of the calling thread, zeroed after its head; tape_commit publishes it.
 * `order` 0: takes the next number. NULL: the event is not recorded, and the recording has ended.
 */
void *tape_event(enum recording_type type, unsigned what, uint64_t order, size_t n_bytes);
void tape_commit(void);
/* Ends the recording: the current event is counted as lost, and no later event is written. */
void tape_stop(const char *why);
/* Records the text at a pointer if it is new. Returns the pointer as a number; 0 for NULL. */
uint64_t tape_string(const char *text);

/* ---- nv_tape_event.c ---- */

/*
 * Writes the ENTER event of a call into the back end, with *value unless `value` is NULL, and
 * begins the call. Returns the order of the event; 0: not recorded.
 */
uint64_t tape_enter(enum recording_entry entry, const uint64_t *value);
/* Begins a call into the back end whose ENTER event has this order. */
void tape_push(uint16_t entry, uint64_t order);
/* Ends a call into the back end: writes the LEAVE event. */
void tape_pop(uint64_t value0, uint64_t value1);
/* Begins a call by the back end. Returns the order of its begin; 0: not recorded. */
uint64_t tape_begin(void);
/*
 * Returns an event with n_out zeroed bytes for the output of a call; fill it, then call
 * tape_commit. NULL: not recorded.
 */
struct recording_call *tape_call_event(enum recording_function f, uint64_t begin, int result,
				       uint64_t key0, uint64_t key1, size_t n_out);
/* Records a call by the back end that began at `begin` and has returned. */
void tape_called(enum recording_function f, uint64_t begin, int result, uint64_t key0,
		 uint64_t key1, const void *out, size_t n_out);

/* ---- nv_tape_enter.c ---- */

/*
 * The recorder's callbacks (tape_on_...), and pointers to the back end's callbacks, which they
 * call. nv_tape_call.c sets the pointers and gives the tape_on_ functions to CUPTI.
 */
extern CUpti_CallbackFunc tape_callback;
extern CUpti_BuffersCallbackRequestFunc tape_request;
extern CUpti_BuffersCallbackCompleteFunc tape_complete;
void CUPTIAPI tape_on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			       const void *data);
void CUPTIAPI tape_on_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
extern CUpti_ComputeCrcCallbackFunc tape_crc;
void CUPTIAPI tape_on_crc(const void *image, size_t bytes, uint64_t *crc);
void CUPTIAPI tape_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			       size_t valid_bytes);

/* ---- nv_tape_arguments.c ---- */

/* Returns true if the back end reads the memory behind this argument. */
bool tape_arguments_follows(enum nv_form form, uint32_t argument);
/*
 * Record what the back end reads from the arguments of a call of this form. tape_arguments_bytes
 * returns the number of bytes after struct recording_driver; tape_arguments_write writes them.
 */
size_t tape_arguments_bytes(enum nv_form form, const void *params, bool has_returned);
void tape_arguments_write(enum nv_form form, const void *params, bool has_returned,
			  struct recording_driver *to);

/* ---- nv_tape_call.c ---- */

/*
 * The PC sampling functions that the recorder and a replay replace: F(name in the table, new
 * function).
 */
#define TAPE_PC_FUNCTIONS(F) \
	F(cuptiPCSamplingEnable, pc_enable) F(cuptiPCSamplingDisable, pc_disable) \
	F(cuptiPCSamplingGetData, pc_get_data) \
	F(cuptiPCSamplingGetNumStallReasons, pc_get_num_stall_reasons) \
	F(cuptiPCSamplingGetStallReasons, pc_get_stall_reasons) \
	F(cuptiPCSamplingSetConfigurationAttribute, pc_set_configuration) \
	F(cuptiPCSamplingGetConfigurationAttribute, pc_get_configuration) \
	F(cuptiRegisterComputeCrcCallback, register_crc) F(cuCtxSynchronize_v2, ctx_synchronize)
#define TAPE_PUT(name, function) l->name = function;

/* Put the recorder's functions into *l. tape_wrap_pc (nv_tape_pc.c) does it for PC sampling. */
void tape_wrap(struct nv_library *l);
void tape_wrap_pc(struct nv_library *l);

#endif
