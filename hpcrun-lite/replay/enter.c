/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls the back end as CUPTI, the driver or the run time did in the recording. It never follows
 * recorded pointers. The recording also contains the memory behind them; if it does not, the back
 * end gets NULL. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/replay/player.h"

#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ARGUMENTS 16u
/* for memory that an argument points to: the recorded bytes, then zeros */
#define MEMORY_BYTES 512u
#define MAX_MEMORIES 4u

static const struct recording_leave *leave_of(uint32_t n)
{
	uint32_t leave = player.tape.event[n].leave;
	return leave == TAPE_NONE ? NULL : (const void *)player.tape.event[leave].head;
}

/* ---- calls of the driver API ---- */

struct arguments {
	uint64_t value[MAX_ARGUMENTS];
	uint64_t memory[MAX_MEMORIES][MEMORY_BYTES / 8];
};

static void make_arguments(const struct recording_driver *d, enum nv_form form, struct arguments *a)
{
	const struct recording_memory *m = NULL;
	unsigned used = 0;
	memset(a, 0, sizeof *a);
	uint32_t n = d->n_arguments < MAX_ARGUMENTS ? d->n_arguments : MAX_ARGUMENTS;
	memcpy(a->value, recording_arguments(d), 8 * (size_t)n);
	for (uint32_t i = 0; i < MAX_ARGUMENTS; i++)
		if (tape_arguments_follows(form, i))
			a->value[i] = 0;
	while (recording_next_memory(d, &m)) {
		if (m->argument >= MAX_ARGUMENTS || used == MAX_MEMORIES ||
		    !tape_arguments_follows(form, m->argument))
			continue;
		memcpy(a->memory[used], m + 1,
		       m->n_bytes < MEMORY_BYTES ? m->n_bytes : MEMORY_BYTES);
		a->value[m->argument] = (uint64_t)(uintptr_t)a->memory[used++];
	}
}

static void driver(uint32_t n)
{
	const struct recording_driver *d = (const void *)player.tape.event[n].head;
	const struct nv_call *call = nv_call_at(d->id);
	struct arguments a;
	CUresult result = (CUresult)d->result;
	uint32_t first = d->site && player.tape.event[n].partner != TAPE_NONE
				 ? player.tape.event[n].partner
				 : n;
	const CUpti_CallbackData data = {
		.callbackSite = d->site ? CUPTI_API_EXIT : CUPTI_API_ENTER,
		.functionName = "",
		.functionParams = a.value,
		.functionReturnValue = &result,
		.symbolName =
			d->symbol ? tape_text_at(&player.tape, d->symbol, d->head.order) : NULL,
		.context = (CUcontext)(uintptr_t)d->context,
		.contextUid = d->context_uid,
		.correlationData = &player.data[first],
		.correlationId = d->correlation};
	make_arguments(d, call ? (enum nv_form)call->form : NV_FORM_NONE, &a);
	player.callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, d->id, &data);
}

/* ---- resources ---- */

static void resource(uint32_t n)
{
	const struct recording_resource *r = (const void *)player.tape.event[n].head;
	bool is_module = r->id == CUPTI_CBID_RESOURCE_MODULE_LOADED ||
			 r->id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING;
	const void *image = is_module && r->n_bytes ? image_find(r->hash, r->n_bytes) : NULL;
	CUpti_ModuleResourceData module = {
		.moduleId = r->module, .pCubin = image, .cubinSize = image ? r->n_bytes : 0};
	CUpti_GraphData graph = {.node = (CUgraphNode)(uintptr_t)r->node,
				 .originalNode = (CUgraphNode)(uintptr_t)r->original};
	void *descriptor = is_module ? (void *)&module : r->node ? (void *)&graph : NULL;
	const CUpti_ResourceData data = {.context = (CUcontext)(uintptr_t)r->context,
					 .resourceDescriptor = descriptor};
	player.callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, r->id, &data);
}

static void crc(uint32_t n)
{
	const struct recording_image *i = (const void *)player.tape.event[n].head;
	const struct recording_leave *l = leave_of(n);
	const void *image = image_find(i->hash, i->n_bytes);
	uint64_t now = 0;
	if (!image || !player.crc)
		return;
	player.crc(image, i->n_bytes, &now);
	if (l && l->value[0] && now)
		nv_map_put(&player.hashes, l->value[0], now);
}

/* ---- buffers ---- */

static void request(uint32_t n)
{
	const struct recording_leave *l = leave_of(n);
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0;
	player.request(&buffer, &bytes, &most);
	if (!buffer || !l || !l->value[0] || player.n_given == player.max_given)
		return; /* in the recording, CUPTI got no buffer either */
	player.given[player.n_given].at = buffer;
	player.given[player.n_given].n_bytes = bytes;
	nv_map_put(&player.buffers, l->value[0], ++player.n_given);
}

/* Returns how many bytes the back end reads from a record of this kind. */
static size_t least_bytes(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(nv_kernel_record);
	case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(nv_copy_record);
	case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(nv_peer_copy_record);
	case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(nv_set_record);
	default:
		return sizeof(CUpti_Activity);
	}
}

/*
 * Finds the complete records, sets the texts that they point to, and writes their offsets to `to`.
 * Returns their number.
 */
static uint32_t sound_records(const struct recording_complete *c, uint8_t *buffer, size_t room,
			      uint32_t *to)
{
	const uint32_t *offset = recording_offsets(c);
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->n_records; i++) {
		nv_kernel_record *k = (nv_kernel_record *)(void *)(buffer + offset[i]);
		uint64_t end = i + 1 < c->n_records ? offset[i + 1] : c->n_valid;
		if (end > room || end - offset[i] < sizeof(CUpti_Activity) ||
		    end - offset[i] < least_bytes(k->kind))
			continue;
		if (k->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
		    k->kind == CUPTI_ACTIVITY_KIND_KERNEL)
			k->name = tape_text_at(&player.tape, (uint64_t)(uintptr_t)k->name,
					       c->head.order);
		to[n++] = offset[i];
	}
	return n;
}

static void complete(struct player_thread *t, uint32_t n)
{
	const struct recording_complete *c = (const void *)player.tape.event[n].head;
	uint64_t number = nv_map_take(&player.buffers, c->buffer);
	uint8_t *buffer = number ? player.given[number - 1].at : NULL;
	size_t room = number ? player.given[number - 1].n_bytes : 0;
	uint32_t *offset = buffer ? calloc((size_t)c->n_records + 1, sizeof *offset) : NULL;
	if (!offset) {
		player.n_dropped += c->n_records;
		return;
	}
	memcpy(buffer, recording_content(c), c->n_valid < room ? c->n_valid : room);
	uint32_t n_records = sound_records(c, buffer, room, offset);
	t->frame->buffer = buffer;
	t->frame->offset = offset;
	t->frame->n_records = n_records;
	player.complete((CUcontext)(uintptr_t)c->context, c->stream, buffer, room,
			n_records ? room : 0);
	free(offset);
}

/* ---- all entries ---- */

static void run(uint32_t n)
{
	uint64_t number = ((const struct recording_number *)player.tape.event[n].head)->value;
	if (number < player.n_own)
		player.own[number].run(player.own[number].arg);
}

static void do_event(struct player_thread *t, uint32_t n)
{
	switch (player.tape.event[n].head->what) {
	case RECORDING_INIT:
		nv_come_in(player.host);
		break;
	case RECORDING_DRIVER:
		if (player.callback)
			driver(n);
		break;
	case RECORDING_RESOURCE:
		if (player.callback)
			resource(n);
		break;
	case RECORDING_REQUEST:
		if (player.request)
			request(n);
		break;
	case RECORDING_COMPLETE:
		if (player.complete)
			complete(t, n);
		break;
	case RECORDING_CRC:
		crc(n);
		break;
	case RECORDING_RUN:
		run(n);
		break;
	case RECORDING_EXIT:
		if (player.at_exit)
			player.at_exit();
		break;
	case RECORDING_END:
		if (player.at_end)
			player.at_end(((const struct recording_number *)player.tape.event[n].head)
					      ->value);
		break;
	case RECORDING_SWITCH:
		if (player.on_switch)
			player.on_switch(
				((const struct recording_number *)player.tape.event[n].head)
					->value != 0);
		break;
	default:
		break;
	}
}

void enter_do(struct player_thread *t, uint32_t event)
{
	struct player_frame frame = {.outer = t->frame,
				     .enter = event,
				     .cursor = player.tape.event[event].next,
				     .now_cursor = player.tape.event[event].next};
	t->frame = &frame;
	place_set(event);
	do_event(t, event);
	t->frame = frame.outer;
	if (t->frame->enter != TAPE_NONE)
		place_set(t->frame->enter);
}
