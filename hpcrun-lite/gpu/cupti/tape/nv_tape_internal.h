/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's parts: the file (nv_tape_file.c), what comes in (nv_tape.c), what goes out (nv_tape_call.c, nv_tape_pc.c). Test: tests/cli/replay.sh. */
#ifndef HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_INTERNAL_H
#define HPCRUN_LITE_GPU_CUPTI_TAPE_NV_TAPE_INTERNAL_H

#include "common/format/recording.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"

#define TAPE_MAX_DEPTH 8u  /* calls of the back end inside of calls of it */
#define TAPE_MAX_NOW 6u    /* times that it is told in one of them; more are events of their own */

struct tape_frame {
	uint64_t enter;
	uint16_t entry;        /* enum recording_entry */
	uint32_t n_now;
	uint64_t now[TAPE_MAX_NOW];
};

/* Of one thread. */
struct tape_thread {
	struct tape_thread *next; /* free ones */
	struct recording_chunk *chunk;
	struct recording_event *open; /* being written; a signal handler of the program that comes in between ends the recording */
	uint32_t stream, sequence, next_bytes;
	uint32_t depth;
	struct tape_frame frame[TAPE_MAX_DEPTH];
};

/* The functions as they were before the recorder came. */
extern struct nv_library tape_real;

/* ---- nv_tape_file.c --------------------------------------------------------------------------------------------- */

/* Makes the file. False: `why` is a constant string. */
bool tape_open(uint64_t max_bytes, const char **why);
/* It is recorded, by this process. */
bool tape_is_on(void);
/* The next of all orders. */
uint64_t tape_order(void);
/* The calling thread's; NULL: no memory, and the recording has ended. */
struct tape_thread *tape_thread(void);
/*
 * Room for an event of the calling thread, zeroed behind its head; tape_commit publishes it. `order` 0: the next. NULL: not recorded; whatever the cause, the recording ends there.
 */
void *tape_event(enum recording_type type, unsigned what, uint64_t order, size_t n_bytes);
void tape_commit(void);
/* Ends the recording: what was to be written is counted as lost, and nothing that comes later is written. */
void tape_stop(const char *why);
/* Records the text at a pointer where that is new, and returns the pointer as a number. NULL gives 0. */
uint64_t tape_string(const char *text);

/* ---- nv_tape.c -------------------------------------------------------------------------------------------------- */

/* Brackets a call of the back end; between the two, `order` is that of its event. */
void tape_push(uint16_t entry, uint64_t order);
/* Writes the LEAVE. */
void tape_pop(uint64_t value0, uint64_t value1);

/* What the recorder gives to CUPTI in place of the back end's; set by nv_tape_call.c. */
extern CUpti_CallbackFunc tape_callback;
extern CUpti_BuffersCallbackRequestFunc tape_request;
extern CUpti_BuffersCallbackCompleteFunc tape_complete;
void CUPTIAPI tape_on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data);
void CUPTIAPI tape_on_request(uint8_t **buffer, size_t *bytes, size_t *max_records);
extern CUpti_ComputeCrcCallbackFunc tape_crc;
void CUPTIAPI tape_on_crc(const void *image, size_t bytes, uint64_t *crc);
void CUPTIAPI tape_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes);

/* ---- nv_tape_arguments.c ------------------------------------------------------------------------------------------ */

/* Whether the back end follows this argument of such a call. */
bool tape_arguments_follows(enum nv_form form, uint32_t argument);
/* What the back end reads of the arguments of a call of this form: bytes behind struct recording_driver, and the writing of them. */
size_t tape_arguments_bytes(enum nv_form form, const void *params, bool has_returned);
void tape_arguments_write(enum nv_form form, const void *params, bool has_returned, struct recording_driver *to);

/* ---- nv_tape_call.c ----------------------------------------------------------------------------------------------- */

/* What stands in front of PC sampling, in the recorder and in a replay: F(name in the table, function that goes there). */
#define TAPE_PC_FUNCTIONS(F) \
	F(cuptiPCSamplingEnable, pc_enable) F(cuptiPCSamplingDisable, pc_disable) F(cuptiPCSamplingGetData, pc_get_data) F(cuptiPCSamplingGetNumStallReasons, pc_get_num_stall_reasons) \
	F(cuptiPCSamplingGetStallReasons, pc_get_stall_reasons) F(cuptiPCSamplingSetConfigurationAttribute, pc_set_configuration) \
	F(cuptiPCSamplingGetConfigurationAttribute, pc_get_configuration) F(cuptiRegisterComputeCrcCallback, register_crc) F(cuCtxSynchronize_v2, ctx_synchronize)
#define TAPE_PUT(name, function) l->name = function;

/* Puts the recorder's functions into *l; the second those of PC sampling (nv_tape_pc.c). */
void tape_wrap(struct nv_library *l);
void tape_wrap_pc(struct nv_library *l);
/* For nv_tape_pc.c: the order at which a call begins, 0: not recorded. */
uint64_t tape_begin(void);
/* Room for what a call gave, n_out zeroed bytes: to be filled and committed. NULL: not recorded. */
struct recording_call *tape_call_event(enum recording_function f, uint64_t begin, int result, uint64_t key0, uint64_t key1, size_t n_out);
/* A call of the back end's that began at `begin` has returned. */
void tape_called(enum recording_function f, uint64_t begin, int result, uint64_t key0, uint64_t key1, const void *out, size_t n_out);

#endif
