/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers as CUPTI, the driver and the process did. Calls that took time are matched one by one
 * with the calls of the recorded thread, and wait for their turn. Other calls get the recorded
 * answer for the same arguments, or fail if there is none. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/replay/player.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Time between two rounds of the back end's own threads. Other waits are shorter. */
#define ROUND_NS UINT64_C(100000000)

static const struct tape_event *event(uint32_t n)
{
	return &player.tape.event[n];
}

/* ---- matching ---- */

/* Returns the LEAVE of the call that the thread is in. */
static uint32_t end_of(const struct player_thread *t)
{
	return t->frame->enter == TAPE_NONE ? TAPE_NONE : event(t->frame->enter)->leave;
}

static bool is_call(const struct tape_event *e, unsigned f)
{
	return e->head->type == RECORDING_CALL && e->head->what == f;
}

/*
 * Returns the next event of this kind, from `from` on, that is directly in the thread's current
 * call. TAPE_NONE: there is none. Skips other calls, except locks and decisions, because these
 * begin the next round of a thread's work or the next part of a round.
 */
static uint32_t next_in(const struct player_thread *t, uint32_t from, enum recording_type type,
			unsigned what, const uint64_t *key)
{
	for (uint32_t n = from, end = end_of(t); n != TAPE_NONE && n != end; n = event(n)->next) {
		const struct tape_event *e = event(n);
		if (e->parent != t->frame->enter)
			continue;
		if (e->head->type == type && e->head->what == what &&
		    (!key || ((const struct recording_call *)e->head)->key[0] == *key))
			return n;
		if (is_call(e, RECORDING_LOCK) || is_call(e, RECORDING_AGREE))
			break;
	}
	return TAPE_NONE;
}

/* Returns the recorded thread's next call that took time, or the end of its current call. */
static uint32_t next_long(const struct player_thread *t, uint32_t from)
{
	uint32_t n = from, end = end_of(t);
	while (n != TAPE_NONE && n != end &&
	       (event(n)->parent != t->frame->enter || !tape_is_long(event(n))))
		n = event(n)->next;
	return n;
}

static void wait_for(struct player_thread *t, uint32_t n)
{
	if (!player.is_played[n])
		player_wait(t, n);
}

static const struct recording_call *take(struct player_thread *t, uint32_t n)
{
	t->frame->cursor = t->frame->now_cursor = event(n)->next;
	if (tape_is_long(event(n)))
		wait_for(t, n);
	return (const void *)event(n)->head;
}

const struct recording_call *stand_in_call(enum recording_function f, const uint64_t *key)
{
	struct player_thread *t = player_self();
	uint32_t n = t ? next_in(t, t->frame->cursor, RECORDING_CALL, f, key) : TAPE_NONE;
	return n == TAPE_NONE ? NULL : take(t, n);
}

const struct recording_call *stand_in_answer(enum recording_function f, uint64_t key0,
					     uint64_t key1)
{
	struct player_thread *t = player_self();
	uint32_t leave =
		t && t->frame->enter != TAPE_NONE ? event(t->frame->enter)->leave : TAPE_NONE;
	uint64_t order = leave != TAPE_NONE                  ? event(leave)->head->order
			 : t && t->frame->enter != TAPE_NONE ? event(t->frame->enter)->head->order
							     : UINT64_MAX;
	return tape_answer(&player.tape, f, key0, key1, order);
}

/*
 * Copies the recorded answer to *to, and returns the recorded result. Returns an error if there is
 * no answer.
 */
static int answer(enum recording_function f, uint64_t key0, uint64_t key1, void *to, size_t n_bytes)
{
	const struct recording_call *c = stand_in_answer(f, key0, key1);
	if (!c)
		return CUPTI_ERROR_UNKNOWN; /* equals CUDA_ERROR_UNKNOWN */
	if (c->result == 0 && n_bytes)
		memcpy(to, recording_out(c), c->n_out < n_bytes ? c->n_out : n_bytes);
	return c->result;
}
_Static_assert((int)CUPTI_ERROR_UNKNOWN == (int)CUDA_ERROR_UNKNOWN, "one number for both");

static uint64_t key_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- CUPTI ---- */

static CUptiResult CUPTIAPI get_version(uint32_t *version)
{
	*version = player.tape.header->library_version;
	return CUPTI_SUCCESS;
}

static const char *text_of(const struct recording_call *c)
{
	const char *text = c ? recording_out(c) : NULL;
	return text && c->n_out && !text[c->n_out - 1] ? text : NULL;
}

static CUptiResult CUPTIAPI get_result_string(CUptiResult r, const char **s)
{
	static char line[64]; /* one thread runs at a time */
	*s = text_of(stand_in_answer(RECORDING_GET_RESULT_STRING, r, 0));
	if (!*s) {
		snprintf(line, sizeof line, "CUPTI error %d", (int)r);
		*s = line;
	}
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				      CUpti_SubscriberParams *p)
{
	const struct recording_call *c = stand_in_call(RECORDING_SUBSCRIBE, NULL);
	CUptiResult result = c ? (CUptiResult)c->result : CUPTI_ERROR_UNKNOWN;
	const char *other = text_of(c);
	(void)user;
	if (other && p->oldSubscriberName)
		snprintf(p->oldSubscriberName, p->oldSubscriberSize, "%s", other);
	if (result == CUPTI_SUCCESS) {
		player.callback = f;
		*s = (CUpti_SubscriberHandle)(void *)&player;
	}
	return result;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle s)
{
	(void)s;
	player.callback = NULL;
	return CUPTI_SUCCESS;
}

/* Only refusals are recorded. */
static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle s,
					    CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	const struct recording_call *c =
		stand_in_answer(RECORDING_ENABLE_CALLBACK, (uint64_t)domain << 32 | id, on);
	(void)s;
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_callback_name(CUpti_CallbackDomain domain, uint32_t id,
					      const char **name)
{
	*name = text_of(
		stand_in_answer(RECORDING_GET_CALLBACK_NAME, (uint64_t)domain << 32 | id, 0));
	return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
					       CUpti_BuffersCallbackCompleteFunc complete)
{
	CUptiResult result = (CUptiResult)answer(RECORDING_REGISTER_CALLBACKS, 0, 0, NULL, 0);
	if (result == CUPTI_SUCCESS) {
		player.request = request;
		player.complete = complete;
	}
	return result;
}

static CUptiResult CUPTIAPI register_timestamp(CUpti_TimestampCallbackFunc f)
{
	(void)f;
	return (CUptiResult)answer(RECORDING_REGISTER_TIMESTAMP, 0, 0, NULL, 0);
}

static CUptiResult CUPTIAPI enable_latency(uint8_t on)
{
	return (CUptiResult)answer(RECORDING_ENABLE_LATENCY, on, 0, NULL, 0);
}

static CUptiResult CUPTIAPI activity_enable(CUpti_ActivityKind kind)
{
	return (CUptiResult)answer(RECORDING_ACTIVITY_ENABLE, kind, 0, NULL, 0);
}

static CUptiResult CUPTIAPI activity_disable(CUpti_ActivityKind kind)
{
	(void)kind;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	const uint64_t key = flag;
	const struct recording_call *c = stand_in_call(RECORDING_FLUSH_ALL, &key);
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_next_record(uint8_t *buffer, size_t n_valid,
					    CUpti_Activity **record)
{
	const struct player_thread *t = player_self();
	const struct player_frame *f = t ? t->frame : NULL;
	uint32_t low = 0;
	if (!f || f->buffer != buffer || !n_valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (*record) {
		uint32_t at = (uint32_t)((uint8_t *)*record - buffer);
		while (low < f->n_records && f->offset[low] != at)
			low++;
		low++;
	}
	if (low >= f->n_records)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(void *)(buffer + f->offset[low]);
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_num_dropped(CUcontext context, uint32_t stream, size_t *n)
{
	const uint64_t key = key_of(context);
	const struct recording_call *c = stand_in_call(RECORDING_GET_NUM_DROPPED, &key);
	uint64_t dropped = 0;
	(void)stream;
	if (c && c->result == 0 && c->n_out >= sizeof dropped)
		memcpy(&dropped, recording_out(c), sizeof dropped);
	*n = dropped + player.n_dropped;
	player.n_dropped = 0;
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_context_id(CUcontext context, uint32_t *id)
{
	return (CUptiResult)answer(RECORDING_GET_CONTEXT_ID, key_of(context), 0, id, sizeof *id);
}

static CUptiResult CUPTIAPI get_device_id(CUcontext context, uint32_t *id)
{
	return (CUptiResult)answer(RECORDING_GET_DEVICE_ID, key_of(context), 0, id, sizeof *id);
}

/* CUDA reuses the addresses of nodes, so the answer given in this very call has precedence. */
static CUptiResult CUPTIAPI get_graph_node_id(CUgraphNode node, uint64_t *id)
{
	return (CUptiResult)answer(RECORDING_GET_GRAPH_NODE_ID, key_of(node), 0, id, sizeof *id);
}

/* ---- the driver ---- */

static CUresult CUDAAPI device_get_name(char *name, int room, CUdevice d)
{
	const struct recording_call *c = stand_in_answer(RECORDING_DEVICE_GET_NAME, (uint64_t)d, 0);
	const char *text = text_of(c);
	if (room > 0)
		snprintf(name, (size_t)room, "%s", text ? text : "");
	return c ? (CUresult)c->result : CUDA_ERROR_UNKNOWN;
}

static CUresult CUDAAPI device_get_attribute(int *value, CUdevice_attribute attribute, CUdevice d)
{
	return (CUresult)answer(RECORDING_DEVICE_GET_ATTRIBUTE, (uint64_t)d, attribute, value,
				sizeof *value);
}

static CUresult CUDAAPI device_total_mem(size_t *bytes, CUdevice d)
{
	return (CUresult)answer(RECORDING_DEVICE_TOTAL_MEM, (uint64_t)d, 0, bytes, sizeof *bytes);
}

static CUresult CUDAAPI device_get_uuid(CUuuid *uuid, CUdevice d)
{
	return (CUresult)answer(RECORDING_DEVICE_GET_UUID, (uint64_t)d, 0, uuid, sizeof *uuid);
}

static CUresult CUDAAPI driver_get_version(int *version)
{
	return (CUresult)answer(RECORDING_DRIVER_GET_VERSION, 0, 0, version, sizeof *version);
}

/* ---- the process itself ---- */

/*
 * The times that a callback got are in its LEAVE; other times are events. After the last one, waits
 * advance the time.
 */
static uint64_t now_ns(void)
{
	struct player_thread *t = player_self();
	uint64_t last_ns = player.tape.event[player.tape.n_events - 1].head->time_ns;
	if (!t || t->frame->enter == TAPE_NONE)
		return t && t->virtual_ns > last_ns ? t->virtual_ns : last_ns;
	struct player_frame *f = t->frame;
	uint64_t now = event(f->enter)->head->time_ns;
	uint32_t leave = event(f->enter)->leave,
		 n = next_in(t, f->now_cursor, RECORDING_NOW, 0, NULL);
	const struct recording_leave *l =
		leave == TAPE_NONE ? NULL : (const void *)event(leave)->head;
	if (l && f->n_now < l->n_now) {
		now = ((const uint64_t *)(l + 1))[f->n_now++];
	} else if (n != TAPE_NONE && n < next_long(t, f->now_cursor)) { /* it asked here */
		wait_for(t, n);
		now = ((const struct recording_now *)event(n)->head)->value;
		f->now_cursor = event(n)->next;
	} else if (now < t->virtual_ns) {
		now = t->virtual_ns;
	}
	t->virtual_ns = now;
	return now;
}

static bool is_own(const struct player_thread *t)
{
	return t->frame->enter != TAPE_NONE && tape_is_enter(event(t->frame->enter), RECORDING_RUN);
}

/*
 * If the recorded thread did not wait here, other threads had another speed then. So wait until its
 * next call. If it made no more calls, a thread of the back end stops before its next round, as at
 * the end of a process. For other threads the time advances.
 */
static void wait_until(sem_t *wake, uint64_t until_ns)
{
	struct player_thread *t = player_self();
	uint32_t n = t ? next_long(t, t->frame->cursor) : TAPE_NONE,
		 end = t ? end_of(t) : TAPE_NONE;
	bool is_round = t && is_own(t) && until_ns - t->virtual_ns >= ROUND_NS;
	(void)wake;
	while (is_round && n != TAPE_NONE && n != end &&
	       player.is_played[n]) /* skip played events of a round that took another course */
		n = t->frame->cursor = t->frame->now_cursor = next_long(t, event(n)->next);
	if (n != TAPE_NONE && is_call(event(n), RECORDING_WAIT))
		take(t, n);
	else if (n != TAPE_NONE && !player.is_played[n])
		player_wait(t, n);
	else if (is_round)
		while (player_wait(t, TAPE_NONE))
			;
	else if (t && until_ns != UINT64_MAX && until_ns > t->virtual_ns)
		t->virtual_ns = until_ns;
}

void stand_in_rest(void)
{
	struct player_thread *t = player_self();
	if (t && is_own(t) && next_long(t, t->frame->cursor) == TAPE_NONE)
		while (player_wait(t, TAPE_NONE))
			;
}

/* Returns the recorded thread's next lock. NULL: it took no more locks. */
static const struct recording_call *take_lock(struct player_thread *t)
{
	uint32_t n = t ? t->frame->cursor : TAPE_NONE;
	while (n != TAPE_NONE && n != end_of(t) &&
	       (event(n)->parent != t->frame->enter || !is_call(event(n), RECORDING_LOCK)))
		n = event(n)->next;
	return n == TAPE_NONE || n == end_of(t) ? NULL : take(t, n);
}

static bool lock_until(pthread_mutex_t *m, uint64_t until_ns)
{
	struct player_thread *t = player_self();
	(void)until_ns;
	const struct recording_call *c = take_lock(t);
	if (c && !c->result)
		return false;
	while (pthread_mutex_trylock(m) !=
	       0) /* another thread still has it: let it run */
		if (!t || !player_yield(t))
			return false;
	return true;
}

static void point(void)
{
	stand_in_call(RECORDING_POINT, NULL);
}

/*
 * In recordings of version 1.0 the decision about bursts is the result of a lock. Recordings before
 * 1.2 have no decision about the gate; it counts as closed.
 */
static bool agree(enum nv_agree what, bool mine)
{
	const uint64_t key = what;
	bool is_lock = player.tape.header->version_minor == 0 && what == NV_AGREE_BURST;
	const struct recording_call *c =
		is_lock ? take_lock(player_self()) : stand_in_call(RECORDING_AGREE, &key);
	return c ? c->result != 0 : mine;
}

static bool spawn(void *(*run)(void *arg), void *arg)
{
	const struct recording_call *c = stand_in_call(RECORDING_SPAWN, NULL);
	if (!c || !c->result || player.n_own == sizeof player.own / sizeof *player.own)
		return false;
	player.own[player.n_own].run = run;
	player.own[player.n_own++].arg = arg;
	return true;
}

/* Returns the recorded result without taking a lock. */
static int lock_gpu(const CUuuid *uuid, char *path, size_t path_bytes)
{
	const struct recording_call *c = stand_in_call(RECORDING_LOCK_GPU, NULL);
	(void)uuid;
	snprintf(path, path_bytes, "%s", text_of(c) ? text_of(c) : "");
	return c && c->result < 0
		       ? c->result
		       : INT_MAX; /* not a descriptor; the back end closes only its lock file */
}

static void at_exit(void (*fn)(void))
{
	player.at_exit = fn;
}

static void on_switch(void (*fn)(bool on))
{
	player.on_switch = fn;
}

static void at_end(void (*fn)(uint64_t may_wait_ns))
{
	player.at_end = fn;
}

/* ---- the table ---- */

void stand_in_library(struct nv_library *l)
{
	*l = (struct nv_library){
		.cuptiGetVersion = get_version,
		.cuptiGetResultString = get_result_string,
		.cuptiSubscribe_v2 = subscribe,
		.cuptiUnsubscribe = unsubscribe,
		.cuptiEnableCallback = enable_callback,
		.cuptiGetCallbackName = get_callback_name,
		.cuptiActivityRegisterCallbacks = register_callbacks,
		.cuptiActivityRegisterTimestampCallback = register_timestamp,
		.cuptiActivityEnableLatencyTimestamps = enable_latency,
		.cuptiActivityEnable = activity_enable,
		.cuptiActivityDisable = activity_disable,
		.cuptiActivityFlushAll = flush_all,
		.cuptiActivityGetNextRecord = get_next_record,
		.cuptiActivityGetNumDroppedRecords = get_num_dropped,
		.cuptiGetContextId = get_context_id,
		.cuptiGetDeviceId = get_device_id,
		.cuptiGetGraphNodeId = get_graph_node_id,
		.cuDeviceGetName = device_get_name,
		.cuDeviceGetAttribute = device_get_attribute,
		.cuDeviceTotalMem_v2 = device_total_mem,
		.cuDeviceGetUuid_v2 = device_get_uuid,
		.cuDriverGetVersion = driver_get_version,
		.now_ns = now_ns,
		.wait = wait_until,
		.lock = lock_until,
		.point = point,
		.agree = agree,
		.spawn = spawn,
		.at_exit = at_exit,
		.at_end = at_end,
		.on_switch = on_switch,
		.lock_gpu = lock_gpu,
		.version = player.tape.header->library_version,
		.path = "a recording",
		.driver_text = NULL,
	};
}
