/* SPDX-License-Identifier: BSD-3-Clause */
/* The state that all parts of the back end share, and functions that need nothing else. */
#include "hpcrun-lite/gpu/cupti/nv_shared.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#define NOTE_BYTES 1024u

struct nv_state nv;

void nv_state_prepare(const struct gpu_host *host)
{
	nv.host = host;
	nv.generation = host->generation(host);
	nv.pid = sys_getpid();
	pthread_mutex_init(&nv.define_lock, NULL);
	nv_shared_prepare();
	nv_map_init(&nv.contexts, NV_MAX_QUEUES);
	nv_map_init(&nv.queues, NV_MAX_QUEUES);
	nv_map_init(&nv.contents, NV_MAX_NAMES);
	nv_map_init(&nv.on_devices, NV_MAX_NAMES);
}

/* 0 is also the generation of a child that could not be measured. */
bool nv_is_here(void)
{
	uint32_t now = nv.host->generation(nv.host);
	return now == nv.generation || (now == 0 && nv.pid == sys_getpid());
}

void nv_note(const char *a, const char *b, const char *c)
{
	char line[NOTE_BYTES];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "gpu=nvidia: ");
	text_put(&t, a);
	text_put(&t, b);
	text_put(&t, c);
	nv.host->note(nv.host, line);
}

const char *nv_result_name(CUptiResult r)
{
	const char *name = NULL;
	return nv.lib.cuptiGetResultString(r, &name) == CUPTI_SUCCESS && name ? name
									      : "unknown error";
}

uint64_t nv_operation_id(uint32_t correlation)
{
	return 2 * nv.host->widen(nv.host, &nv.ids, correlation);
}
