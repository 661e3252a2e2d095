/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What real life does to a tool, put into a replay: records that are dropped, missing, out of order
 * or with senseless times, ids that wrap around, calls that fail. Each is done at a place that the
 * player asks about. Test: tests/cli/gpu/replay_fault.sh.
 */
#ifndef HPCRUN_LITE_REPLAY_FAULT_H
#define HPCRUN_LITE_REPLAY_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind {
	FAULT_DROPPED_BUFFERS,
	FAULT_LOST_RECORD,
	FAULT_WRAP,
	FAULT_CLOCK_STEP,
	FAULT_OUT_OF_MEMORY,
	FAULT_BUFFER_FULL,
	FAULT_UNKNOWN_CALL,
	FAULT_EARLY_UNLOAD,
	FAULT_OUT_OF_ORDER,
	FAULT_SUBSCRIBER,
	FAULT_N
};

/* UNKNOWN_CALL: of a driver that is newer than we are; and one beyond all that is looked at. */
#define FAULT_NEW_CALL 1400u
#define FAULT_NEW_CALL_NAME "cuLaunchSomethingNew_v9"
#define FAULT_FAR_CALL 70000u

struct fault {
	uint32_t first_id;           /* the least correlation id of the recording */
	bool is_on[FAULT_N];
	uint64_t number[FAULT_N];    /* behind the ':' */
	uint64_t count[FAULT_N];     /* how often its place was passed */
};

/* "KIND[:NUMBER]" of --inject. False: there is no such kind, or the number makes no sense. */
bool fault_parse(struct fault *f, const char *text);
/* All kinds, a line each, for the help. */
const char *fault_help(void);

/* True at every n-th time that this is asked, n being its number. */
bool fault_now(struct fault *f, enum fault_kind kind);

/* A correlation id as the back end shall see it. */
uint32_t fault_correlation(const struct fault *f, uint32_t id);

/*
 * The records of a buffer, at `offset[*n_records]`, the last one ending at n_bytes: changed in
 * place, some taken out of the list. `middle_ns` is half of the recording's time. Returns how many
 * CUPTI would count as dropped.
 */
uint32_t fault_records(struct fault *f, uint8_t *buffer, uint32_t *offset, uint32_t *n_records,
		       uint64_t middle_ns);

#endif
