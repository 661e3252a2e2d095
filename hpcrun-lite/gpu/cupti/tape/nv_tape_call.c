/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records calls by the back end: puts the recorder in front of each function of the table. Trivial
 * answers (no records dropped, an id without a name) are not recorded, because the player can give
 * them itself. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <errno.h>
#include <string.h>

#define MAX_THREADS 8u

static uint64_t key_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* ---- CUPTI ---- */

static CUptiResult CUPTIAPI get_result_string(CUptiResult r, const char **s)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiGetResultString(r, s);
	if (result == CUPTI_SUCCESS && *s)
		tape_called(RECORDING_GET_RESULT_STRING, b, result, r, 0, *s, strlen(*s) + 1);
	return result;
}

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				      CUpti_SubscriberParams *p)
{
	uint64_t b = tape_begin();
	tape_callback = f;
	CUptiResult result = tape_real.cuptiSubscribe_v2(s, tape_on_callback, user, p);
	const char *other =
		p->oldSubscriberName && p->oldSubscriberSize ? p->oldSubscriberName : "";
	tape_called(RECORDING_SUBSCRIBE, b, result, 0, 0, other, strlen(other) + 1);
	return result;
}

static CUptiResult CUPTIAPI unsubscribe(CUpti_SubscriberHandle s)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiUnsubscribe(s);
	tape_called(RECORDING_UNSUBSCRIBE, b, result, 0, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI enable_callback(uint32_t on, CUpti_SubscriberHandle s,
					    CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiEnableCallback(on, s, domain, id);
	if (result != CUPTI_SUCCESS)
		tape_called(RECORDING_ENABLE_CALLBACK, b, result, (uint64_t)domain << 32 | id, on,
			    NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI get_callback_name(CUpti_CallbackDomain domain, uint32_t id,
					      const char **name)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiGetCallbackName(domain, id, name);
	if (result == CUPTI_SUCCESS && *name)
		tape_called(RECORDING_GET_CALLBACK_NAME, b, result, (uint64_t)domain << 32 | id, 0,
			    *name, strlen(*name) + 1);
	return result;
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
					       CUpti_BuffersCallbackCompleteFunc complete)
{
	uint64_t b = tape_begin();
	tape_request = request;
	tape_complete = complete;
	CUptiResult result =
		tape_real.cuptiActivityRegisterCallbacks(tape_on_request, tape_on_complete);
	tape_called(RECORDING_REGISTER_CALLBACKS, b, result, 0, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI register_timestamp(CUpti_TimestampCallbackFunc f)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityRegisterTimestampCallback(f);
	tape_called(RECORDING_REGISTER_TIMESTAMP, b, result, 0, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI enable_latency(uint8_t on)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityEnableLatencyTimestamps(on);
	tape_called(RECORDING_ENABLE_LATENCY, b, result, on, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI activity_enable(CUpti_ActivityKind kind)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityEnable(kind);
	tape_called(RECORDING_ACTIVITY_ENABLE, b, result, kind, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI activity_disable(CUpti_ActivityKind kind)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityDisable(kind);
	tape_called(RECORDING_ACTIVITY_DISABLE, b, result, kind, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI flush_all(uint32_t flag)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityFlushAll(flag);
	tape_called(RECORDING_FLUSH_ALL, b, result, flag, 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI get_num_dropped(CUcontext context, uint32_t stream, size_t *n)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiActivityGetNumDroppedRecords(context, stream, n);
	uint64_t dropped = *n;
	if (result != CUPTI_SUCCESS || dropped)
		tape_called(RECORDING_GET_NUM_DROPPED, b, result, key_of(context), stream, &dropped,
			    sizeof dropped);
	return result;
}

static CUptiResult CUPTIAPI get_context_id(CUcontext context, uint32_t *id)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiGetContextId(context, id);
	tape_called(RECORDING_GET_CONTEXT_ID, b, result, key_of(context), 0, id, sizeof *id);
	return result;
}

static CUptiResult CUPTIAPI get_device_id(CUcontext context, uint32_t *id)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiGetDeviceId(context, id);
	tape_called(RECORDING_GET_DEVICE_ID, b, result, key_of(context), 0, id, sizeof *id);
	return result;
}

static CUptiResult CUPTIAPI get_graph_node_id(CUgraphNode node, uint64_t *id)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiGetGraphNodeId(node, id);
	tape_called(RECORDING_GET_GRAPH_NODE_ID, b, result, key_of(node), 0, id, sizeof *id);
	return result;
}

/* ---- the driver ---- */

static CUresult CUDAAPI device_get_name(char *name, int room, CUdevice d)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuDeviceGetName(name, room, d);
	tape_called(RECORDING_DEVICE_GET_NAME, b, (int)result, (uint64_t)d, 0, name,
		    room > 0 ? strnlen(name, (size_t)room - 1) + 1 : 0);
	return result;
}

static CUresult CUDAAPI device_get_attribute(int *value, CUdevice_attribute attribute, CUdevice d)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuDeviceGetAttribute(value, attribute, d);
	tape_called(RECORDING_DEVICE_GET_ATTRIBUTE, b, (int)result, (uint64_t)d, attribute, value,
		    sizeof *value);
	return result;
}

static CUresult CUDAAPI device_total_mem(size_t *bytes, CUdevice d)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuDeviceTotalMem_v2(bytes, d);
	tape_called(RECORDING_DEVICE_TOTAL_MEM, b, (int)result, (uint64_t)d, 0, bytes,
		    sizeof *bytes);
	return result;
}

static CUresult CUDAAPI device_get_uuid(CUuuid *uuid, CUdevice d)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuDeviceGetUuid_v2(uuid, d);
	tape_called(RECORDING_DEVICE_GET_UUID, b, (int)result, (uint64_t)d, 0, uuid, sizeof *uuid);
	return result;
}

static CUresult CUDAAPI driver_get_version(int *version)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuDriverGetVersion(version);
	tape_called(RECORDING_DRIVER_GET_VERSION, b, (int)result, 0, 0, version, sizeof *version);
	return result;
}

/* ---- the process itself ---- */

/*
 * A time that the back end asks for inside a callback is part of the callback's LEAVE; otherwise it
 * is a separate event.
 */
static uint64_t now_ns(void)
{
	uint64_t value = tape_real.now_ns();
	struct tape_thread *t = tape_is_on() ? tape_thread() : NULL;
	struct tape_frame *f =
		t && t->depth && t->depth <= TAPE_MAX_DEPTH ? &t->frame[t->depth - 1] : NULL;
	bool is_long = !f || f->entry == RECORDING_RUN || f->entry == RECORDING_EXIT ||
		       f->entry == RECORDING_END || f->entry == RECORDING_SWITCH ||
		       f->n_now == TAPE_MAX_NOW;
	if (t && !is_long) {
		f->now[f->n_now++] = value;
		return value;
	}
	struct recording_now *e = t ? tape_event(RECORDING_NOW, 0, 0, sizeof *e) : NULL;
	if (e) {
		e->value = value;
		tape_commit();
	}
	return value;
}

static void wait_until(sem_t *wake, uint64_t until_ns)
{
	uint64_t b = tape_begin();
	tape_real.wait(wake, until_ns);
	tape_called(RECORDING_WAIT, b, 0, until_ns, 0, NULL, 0);
}

static bool lock_until(pthread_mutex_t *m, uint64_t until_ns)
{
	uint64_t b = tape_begin();
	bool good = tape_real.lock(m, until_ns);
	tape_called(RECORDING_LOCK, b, good, until_ns, 0, NULL, 0);
	return good;
}

static void point(void)
{
	uint64_t b = tape_begin();
	tape_called(RECORDING_POINT, b, 0, 0, 0, NULL, 0);
}

static bool agree(enum nv_agree what, bool mine)
{
	uint64_t b = tape_begin();
	tape_called(RECORDING_AGREE, b, mine, what, 0, NULL, 0);
	return mine;
}

static struct own_thread {
	void *(*run)(void *arg);
	void *arg;
} own_threads[MAX_THREADS];
static _Atomic uint32_t n_own_threads;

static void *run_thread(void *arg)
{
	const struct own_thread *o = arg;
	const uint64_t number = (uint64_t)(o - own_threads);
	uint64_t order = tape_enter(RECORDING_RUN, &number);
	void *result = o->run(o->arg);
	if (order)
		tape_pop(0, 0);
	return result;
}

static bool spawn(void *(*run)(void *arg), void *arg)
{
	uint64_t b = tape_begin();
	uint32_t n = atomic_fetch_add_explicit(&n_own_threads, 1, memory_order_relaxed);
	if (n >= MAX_THREADS) {
		tape_stop("the back end has too many threads of its own");
		return tape_real.spawn(run, arg);
	}
	own_threads[n] = (struct own_thread){run, arg};
	bool good = tape_real.spawn(run_thread, &own_threads[n]);
	tape_called(RECORDING_SPAWN, b, good, n, 0, NULL, 0);
	return good;
}

static void (*exit_function)(void);
static void (*end_function)(uint64_t may_wait_ns);
static void (*switch_function)(bool on);

static void on_exit_called(void)
{
	uint64_t order = tape_enter(RECORDING_EXIT, NULL);
	exit_function();
	if (order)
		tape_pop(0, 0);
}

static void on_end(uint64_t may_wait_ns)
{
	uint64_t order = tape_enter(RECORDING_END, &may_wait_ns);
	end_function(may_wait_ns);
	if (order)
		tape_pop(0, 0);
}

static void on_switched(bool on)
{
	const uint64_t value = on;
	uint64_t order = tape_enter(RECORDING_SWITCH, &value);
	switch_function(on);
	if (order)
		tape_pop(0, 0);
}

static int lock_gpu(const CUuuid *uuid, char *path, size_t path_bytes)
{
	uint64_t b = tape_begin();
	int fd = tape_real.lock_gpu(uuid, path, path_bytes);
	int saved = errno;
	tape_called(RECORDING_LOCK_GPU, b, fd, 0, 0, path, strnlen(path, path_bytes - 1) + 1);
	errno = saved;
	return fd;
}

static void at_exit(void (*fn)(void))
{
	exit_function = fn;
	tape_real.at_exit(on_exit_called);
}

static void at_end(void (*fn)(uint64_t may_wait_ns))
{
	end_function = fn ? fn : end_function;
	tape_real.at_end(fn ? on_end : NULL);
}

static void on_switch(void (*fn)(bool on))
{
	switch_function = fn ? fn : switch_function;
	tape_real.on_switch(fn ? on_switched : NULL);
}

/* ---- all ---- */

void tape_wrap(struct nv_library *l)
{
	l->cuptiGetResultString = get_result_string;
	l->cuptiSubscribe_v2 = subscribe;
	l->cuptiUnsubscribe = unsubscribe;
	l->cuptiEnableCallback = enable_callback;
	l->cuptiGetCallbackName = get_callback_name;
	l->cuptiActivityRegisterCallbacks = register_callbacks;
	l->cuptiActivityRegisterTimestampCallback = register_timestamp;
	l->cuptiActivityEnableLatencyTimestamps = enable_latency;
	l->cuptiActivityEnable = activity_enable;
	l->cuptiActivityDisable = activity_disable;
	l->cuptiActivityFlushAll = flush_all;
	l->cuptiActivityGetNumDroppedRecords = get_num_dropped;
	l->cuptiGetContextId = get_context_id;
	l->cuptiGetDeviceId = get_device_id;
	l->cuptiGetGraphNodeId = get_graph_node_id;
	l->cuDeviceGetName = device_get_name;
	l->cuDeviceGetAttribute = device_get_attribute;
	l->cuDeviceTotalMem_v2 = device_total_mem;
	l->cuDeviceGetUuid_v2 = device_get_uuid;
	l->cuDriverGetVersion = driver_get_version;
	l->now_ns = now_ns;
	l->wait = wait_until;
	l->lock = lock_until;
	l->point = point;
	l->agree = agree;
	l->spawn = spawn;
	l->at_exit = at_exit;
	l->at_end = at_end;
	l->on_switch = on_switch;
	l->lock_gpu = lock_gpu;
}
