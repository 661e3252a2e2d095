/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records calls into the back end: CUPTI's callbacks and buffers. Each is recorded before the back
 * end sees it, so that a recording ends with the cause of a crash. When it returns, its answer and
 * the place of its launch are recorded. Changes nothing for either side. Test:
 * tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"
#include "hpcrun-lite/gpu/hash128.h"

#include <errno.h>
#include <string.h>

CUpti_CallbackFunc tape_callback;
CUpti_BuffersCallbackRequestFunc tape_request;
CUpti_BuffersCallbackCompleteFunc tape_complete;
CUpti_ComputeCrcCallbackFunc tape_crc;

/* ---- callbacks ---- */

static uint64_t number(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Returns the order of the event; 0: not recorded. */
static uint64_t driver(CUpti_CallbackId id, const CUpti_CallbackData *d)
{
	const struct nv_call *c = nv_call_at(id);
	enum nv_form form = c ? (enum nv_form)c->form : NV_FORM_NONE;
	bool is_exit = d->callbackSite == CUPTI_API_EXIT;
	int32_t result =
		is_exit && d->functionReturnValue ? *(const int32_t *)d->functionReturnValue : 0;
	bool has_returned = is_exit && result == CUDA_SUCCESS;
	uint64_t symbol = tape_string(d->symbolName);
	size_t more = tape_arguments_bytes(form, d->functionParams, has_returned);
	struct recording_driver *e =
		tape_event(RECORDING_ENTER, RECORDING_DRIVER, 0, sizeof *e + more);
	if (!e)
		return 0;
	e->id = id;
	e->site = is_exit;
	e->correlation = d->correlationId;
	e->result = result;
	e->context = number(d->context);
	e->context_uid = d->contextUid;
	e->symbol = symbol;
	tape_arguments_write(form, d->functionParams, has_returned, e);
	uint64_t order = e->head.order;
	tape_commit();
	return order;
}

static uint64_t resource(CUpti_CallbackId id, const CUpti_ResourceData *r)
{
	const CUpti_ModuleResourceData *m =
		id == CUPTI_CBID_RESOURCE_MODULE_LOADED ||
				id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING
			? r->resourceDescriptor
			: NULL;
	const CUpti_GraphData *g = id == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
						   id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED
					   ? r->resourceDescriptor
					   : NULL;
	uint64_t hash[2] = {0, 0};
	if (m && m->pCubin)
		hash128(m->pCubin, m->cubinSize, 0, hash);
	struct recording_resource *e =
		tape_event(RECORDING_ENTER, RECORDING_RESOURCE, 0, sizeof *e);
	if (!e)
		return 0;
	e->id = id;
	e->context = number(r->context);
	e->module = m ? m->moduleId : 0;
	e->n_bytes = m && m->pCubin ? m->cubinSize : 0;
	memcpy(e->hash, hash, sizeof hash);
	e->node = g ? number(g->node) : 0;
	e->original = g && id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED ? number(g->originalNode) : 0;
	uint64_t order = e->head.order;
	tape_commit();
	return order;
}

void CUPTIAPI tape_on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			       const void *data)
{
	int saved = errno;
	bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
	uint64_t order = !tape_is_on()                        ? 0
			 : is_driver                          ? driver(id, data)
			 : domain == CUPTI_CB_DOMAIN_RESOURCE ? resource(id, data)
							      : 0;
	errno = saved;
	if (order)
		tape_push(is_driver ? RECORDING_DRIVER : RECORDING_RESOURCE, order);
	tape_callback(user, domain, id, data);
	if (order)
		tape_pop(0, 0);
	errno = saved;
}

void CUPTIAPI tape_on_crc(const void *image, size_t bytes, uint64_t *crc)
{
	int saved = errno;
	uint64_t hash[2] = {0, 0}, order = 0;
	bool is_on = image && tape_is_on();
	if (is_on)
		hash128(image, bytes, 0, hash);
	struct recording_image *e =
		is_on ? tape_event(RECORDING_ENTER, RECORDING_CRC, 0, sizeof *e) : NULL;
	if (e) {
		e->n_bytes = bytes;
		memcpy(e->hash, hash, sizeof hash);
		order = e->head.order;
		tape_commit();
		tape_push(RECORDING_CRC, order);
	}
	errno = saved;
	tape_crc(image, bytes, crc);
	if (order)
		tape_pop(*crc, 0);
	errno = saved;
}

/* ---- buffers ---- */

void CUPTIAPI tape_on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	int saved = errno;
	uint64_t order = tape_enter(RECORDING_REQUEST, NULL);
	tape_request(buffer, bytes, max_records);
	if (order)
		tape_pop(number(*buffer), *bytes);
	errno = saved;
}

/*
 * Records the names in the records as texts. Keeps the offsets, because only CUPTI knows the length
 * of every kind of record.
 */
static uint32_t look_at_records(uint8_t *buffer, size_t valid, uint32_t *offsets)
{
	CUpti_Activity *record = NULL;
	uint32_t n = 0;
	while (valid &&
	       tape_real.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
		if (offsets)
			offsets[n] = (uint32_t)((uint8_t *)record - buffer);
		else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
			 record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
			tape_string(((const nv_kernel_record *)record)->name);
		n++;
	}
	return n;
}

static uint64_t complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			 size_t valid)
{
	uint32_t n = look_at_records(buffer, valid, NULL);
	size_t offsets = (size_t)recording_round(4 * (uint64_t)n, 8);
	struct recording_complete *e = tape_event(RECORDING_ENTER, RECORDING_COMPLETE, 0,
						  sizeof *e + offsets + recording_round(valid, 8));
	if (!e)
		return 0;
	e->context = number(context);
	e->stream = stream;
	e->buffer = number(buffer);
	e->n_bytes = bytes;
	e->n_valid = valid;
	e->n_records = n;
	look_at_records(buffer, valid, (uint32_t *)(e + 1));
	memcpy((uint8_t *)(e + 1) + offsets, buffer, valid);
	uint64_t order = e->head.order;
	tape_commit();
	return order;
}

void CUPTIAPI tape_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			       size_t valid_bytes)
{
	int saved = errno;
	uint64_t order =
		buffer && tape_is_on() ? complete(context, stream, buffer, bytes, valid_bytes) : 0;
	errno = saved;
	if (order)
		tape_push(RECORDING_COMPLETE, order);
	tape_complete(context, stream, buffer, bytes, valid_bytes);
	if (order)
		tape_pop(0, 0);
	errno = saved;
}
