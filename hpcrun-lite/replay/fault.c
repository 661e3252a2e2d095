/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults put into a replay; see fault.h. Test: tests/cli/gpu/replay_fault.sh. */
#include "hpcrun-lite/replay/fault.h"

#include "hpcrun-lite/gpu/cupti/nv_headers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define MAX_NUMBER UINT64_C(1000000000000)

static const struct kind {
	const char *name;
	uint64_t number;    /* where none is given */
	const char *about;
} kinds[FAULT_N] = {
	[FAULT_DROPPED_BUFFERS] =
		{"dropped-buffers", 1,
		 "every N-th buffer of records is dropped, and CUPTI says how many were in it"},
	[FAULT_LOST_RECORD] = {"lost-record", 10,
			       "every N-th record does not come, and nobody says so"},
	[FAULT_WRAP] = {"wrap", 10, "correlation ids wrap around at 2^32 after the first N"},
	[FAULT_CLOCK_STEP] = {"clock-step", 1000,
			      "the device's clock jumps back by N ms in the middle"},
	[FAULT_OUT_OF_MEMORY] = {"out-of-memory", 2,
				 "the N-th asking for PC samples fails with OUT_OF_MEMORY"},
	[FAULT_BUFFER_FULL] = {"buffer-full", 2, "... comes back with the hardware buffer full"},
	[FAULT_UNKNOWN_CALL] =
		{"unknown-call", 5,
		 "before every N-th call comes one of a driver that is newer than this program"},
	[FAULT_EARLY_UNLOAD] = {"early-unload", 1,
				"every N-th module is gone before it can be copied"},
	[FAULT_OUT_OF_ORDER] = {"out-of-order", 1,
				"the records of every N-th buffer come in reverse"},
	[FAULT_SUBSCRIBER] = {"subscriber", 1, "another tool uses CUPTI"},
};

bool fault_parse(struct fault *f, const char *text)
{
	size_t n = strcspn(text, ":");
	for (unsigned k = 0; k < FAULT_N; k++) {
		if (strlen(kinds[k].name) != n || strncmp(kinds[k].name, text, n) != 0)
			continue;
		char *end = NULL;
		errno = 0;
		uint64_t number = text[n] && text[n + 1] >= '0' && text[n + 1] <= '9'
					  ? strtoull(text + n + 1, &end, 10)
					  : kinds[k].number;
		if ((text[n] && (!end || *end)) || errno || !number || number > MAX_NUMBER)
			return false;
		f->is_on[k] = true;
		f->number[k] = number;
		return true;
	}
	return false;
}

const char *fault_help(void)
{
	static char text[2048];
	size_t n = 0;
	for (unsigned k = 0; k < FAULT_N && n < sizeof text; k++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s  %s:%llu: %s", k ? "\n" : "",
				      kinds[k].name, (unsigned long long)kinds[k].number,
				      kinds[k].about);
	return text;
}

bool fault_now(struct fault *f, enum fault_kind kind)
{
	return f->is_on[kind] && ++f->count[kind] % f->number[kind] == 0;
}

uint32_t fault_correlation(const struct fault *f, uint32_t id)
{
	return f->is_on[FAULT_WRAP] ? id - f->first_id - (uint32_t)f->number[FAULT_WRAP] : id;
}

/* ---- records ---- */

struct fields {
	uint32_t *correlation;
	uint64_t *start, *end;
};

static struct fields fields_of(void *record)
{
	CUpti_ActivityKernel10 *k = record;
	CUpti_ActivityMemcpy6 *c = record;
	CUpti_ActivityMemcpyPtoP4 *p = record;
	CUpti_ActivityMemset4 *s = record;
	switch (((CUpti_Activity *)record)->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return (struct fields){&k->correlationId, &k->start, &k->end};
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return (struct fields){&c->correlationId, &c->start, &c->end};
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return (struct fields){&p->correlationId, &p->start, &p->end};
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return (struct fields){&s->correlationId, &s->start, &s->end};
	default:
		return (struct fields){NULL, NULL, NULL};
	}
}

static void step_back(uint64_t *ns, uint64_t middle_ns, uint64_t by_ns)
{
	if (*ns > middle_ns)
		*ns = *ns > by_ns ? *ns - by_ns : 1;
}

/* False: it does not come. */
static bool change_record(struct fault *f, void *record, uint64_t middle_ns)
{
	struct fields r = fields_of(record);
	if (!r.correlation)
		return true;
	*r.correlation = fault_correlation(f, *r.correlation);
	if (f->is_on[FAULT_CLOCK_STEP]) {
		step_back(r.start, middle_ns, f->number[FAULT_CLOCK_STEP] * NS_PER_MS);
		step_back(r.end, middle_ns, f->number[FAULT_CLOCK_STEP] * NS_PER_MS);
	}
	return !fault_now(f, FAULT_LOST_RECORD);
}

static void reverse(uint32_t *offset, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t kept = offset[i];
		offset[i] = offset[n - 1 - i];
		offset[n - 1 - i] = kept;
	}
}

uint32_t fault_records(struct fault *f, uint8_t *buffer, uint32_t *offset, uint32_t *n_records,
		       uint64_t middle_ns)
{
	uint32_t n = 0, before = *n_records;
	if (before && fault_now(f, FAULT_DROPPED_BUFFERS)) {
		*n_records = 0;
		return before;
	}
	for (uint32_t i = 0; i < before; i++)
		if (change_record(f, buffer + offset[i], middle_ns))
			offset[n++] = offset[i];
	if (fault_now(f, FAULT_OUT_OF_ORDER))
		reverse(offset, n);
	*n_records = n;
	return 0;
}
