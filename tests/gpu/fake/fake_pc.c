/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling of a CUPTI that does not exist, of each device apart. What it does like NVIDIA's, as
 * seen on an H200 (doc/notes/cupti-facts.md): a sample for each unit and 2^period cycles while a
 * kernel runs; nothing before 0.3 s, so short programs get all when they disable; sums come with
 * the first of several calls; samples of modules that were loaded before, and some others, have no
 * record; stall reasons come in pairs, numbered in no order, and only when enabled; a full buffer
 * is the end until Disable; Disable waits for kernels and fills the configuration's buffer as far
 * as it has room. FAKE_CUDA=refused: no rights; pcdropped: the device drops some; pcunknown:
 * GetData answers as to a second process. FAKE_SHARED: a file by which processes give a device to
 * each other in turn.
 */
#include "tests/gpu/fake/fake_cuda.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define N_REASONS 9u
#define MAX_ENTRIES 200000u
#define N_INSTRUCTIONS 8u      /* of each branch of a function */
#define DELAY_NS 300000000u
#define MAX_RUNS 65536u

static const char *const reasons[N_REASONS] = {
	"smsp__pcsamp_sample_count",
	"smsp__pcsamp_samples_data_dropped",
	"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
	"smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
	"smsp__pcsamp_warps_issue_stalled_selected",
	"smsp__pcsamp_warps_issue_stalled_selected_not_issued",
	"smsp__pcsamp_warps_issue_stalled_wait",
	"smsp__pcsamp_warps_issue_stalled_wait_not_issued",
	"smsp__pcsamp_warps_issue_stalled_unheard_of"};
enum { LONG = 2, SELECTED = 4, WAIT = 6, NOT_ISSUED = 1 };

struct entry {
	uint64_t crc, offset;
	uint32_t index, correlation;
	char *name;
	uint32_t counts[N_REASONS];
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_ComputeCrcCallbackFunc compute_crc;
struct sampling {
	bool is_enabled, is_configured, is_full, is_gone;
	uint64_t enabled_ns, rest_cycles, samples_held;
	uint32_t period;
	size_t hardware_bytes;
	CUpti_PCSamplingCollectionMode mode;
	CUpti_PCSamplingData *left;
	struct entry *entries;
	size_t n_entries, n_given;
	struct fake_run *runs; /* launched and not yet sampled */
	size_t n_runs;
	uint64_t total, dropped, outside, n_sampled;
};
static struct sampling samplings[FAKE_MOST_DEVICES];
static uint64_t before[64]; /* modules that were loaded before sampling was enabled */
static unsigned n_before;

static struct sampling *of(CUcontext c) { return &samplings[fake_device_of(c)]; }

uint64_t fake_pc_load(const void *image, size_t bytes)
{
	uint64_t crc = bytes;
	if (compute_crc)
		compute_crc(image, bytes, &crc);
	pthread_mutex_lock(&lock);
	if (!fake_pc_is_enabled() && n_before < 64)
		before[n_before++] = crc;
	pthread_mutex_unlock(&lock);
	return crc;
}

bool fake_pc_is_enabled(void)
{
	for (unsigned i = 0; i < FAKE_MOST_DEVICES; i++)
		if (samplings[i].is_enabled)
			return true;
	return false;
}

bool fake_pc_is_unread(void)
{
	bool is_unread = false;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < FAKE_MOST_DEVICES && !fake_is("pcunknown"); i++) {
		const struct sampling *s = &samplings[i];
		is_unread = is_unread || (s->is_enabled && s->is_configured &&
					  (s->n_runs || s->n_entries > s->n_given || s->total));
	}
	pthread_mutex_unlock(&lock);
	return is_unread;
}

static bool is_serialized(const struct sampling *s)
{
	return s->is_enabled && s->mode == CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED;
}
bool fake_pc_is_serialized(uint32_t device) { return is_serialized(&samplings[device]); }

void fake_pc_context_gone(uint32_t device)
{
	pthread_mutex_lock(&lock);
	samplings[device].is_gone = samplings[device].is_enabled;
	samplings[device].is_enabled = false;
	pthread_mutex_unlock(&lock);
}

/* ---- two processes on a device ------------------------------------------------------------- */

/* When a process that is not sampled has kernels without a break, for the one that is. */
struct rival {
	uint64_t begin_ns, end_ns;
};
#define BREAK_NS 10000000u

static volatile struct rival *shared_rival(void)
{
	static volatile struct rival *rival;
	const char *path = getenv("FAKE_SHARED");
	int fd = path && !rival ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return rival;
	void *at = ftruncate(fd, sizeof *rival) == 0 ? mmap(NULL, sizeof *rival,
							    PROT_READ | PROT_WRITE, MAP_SHARED,
							    fd, 0)
						     : MAP_FAILED;
	close(fd);
	rival = at == MAP_FAILED ? NULL : at;
	return rival;
}

static void tell_rival(const struct fake_run *r)
{
	volatile struct rival *mine = shared_rival();
	if (!mine)
		return;
	if (r->begin_ns > mine->end_ns + BREAK_NS)
		mine->begin_ns = r->begin_ns;
	mine->end_ns = r->end_ns;
}

/* Of this time, what the process has the device: half of it while the other has kernels, too. */
static uint64_t own_ns(uint64_t begin_ns, uint64_t end_ns)
{
	const volatile struct rival *other = shared_rival();
	if (!other)
		return end_ns - begin_ns;
	uint64_t from = other->begin_ns > begin_ns ? other->begin_ns : begin_ns,
		 to = other->end_ns < end_ns ? other->end_ns : end_ns;
	return end_ns - begin_ns - (to > from ? (to - from) / 2 : 0);
}

void fake_pc_kernel(uint32_t device, const struct fake_run *r)
{
	struct sampling *s = &samplings[device];
	pthread_mutex_lock(&lock);
	if (s->is_configured && s->n_runs < MAX_RUNS)
		s->runs[s->n_runs++] = *r;
	else if (!s->is_configured)
		tell_rival(r);
	pthread_mutex_unlock(&lock);
}

/* ---- sampling -------------------------------------------------------------------------------- */

static struct entry *entry_of(struct sampling *s, const struct fake_run *r, uint64_t offset,
			      uint32_t correlation)
{
	size_t first =
		correlation && s->n_entries > N_INSTRUCTIONS ? s->n_entries - N_INSTRUCTIONS : 0;
	for (size_t i = first > s->n_given ? first : s->n_given; i < s->n_entries; i++)
		if (s->entries[i].crc == r->crc && s->entries[i].index == r->index &&
		    s->entries[i].offset == offset && s->entries[i].correlation == correlation)
			return &s->entries[i];
	if (s->n_entries == MAX_ENTRIES)
		abort();
	s->entries[s->n_entries] = (struct entry){.crc = r->crc,
						  .offset = offset,
						  .index = r->index,
						  .correlation = correlation,
						  .name = r->name};
	return &s->entries[s->n_entries++];
}

static bool was_before(uint64_t crc)
{
	for (unsigned i = 0; i < n_before; i++)
		if (before[i] == crc)
			return true;
	return false;
}

/* The nth sample: half of those at an instruction are selected, the others wait. */
static void sample(struct sampling *s, const struct fake_run *r)
{
	uint64_t n = s->n_sampled++;
	s->total++;
	if (fake_is("pcdropped") && n % 50 == 7) {
		s->dropped++;
	} else if (n % 100 == 42 || was_before(r->crc) ||
		   (FAKE_CUDA_VERSION < 13000 && fake_has_kernel_records())) {
		s->outside++;
	} else {
		struct entry *e =
			entry_of(s, r, 16 * (r->branch * N_INSTRUCTIONS + n % N_INSTRUCTIONS),
				 is_serialized(s) ? r->correlation : 0);
		unsigned reason = n % 2 ? SELECTED : n % 4 ? WAIT : LONG;
		e->counts[reason]++;
		if (reason == LONG || (reason == WAIT && n % 3))
			e->counts[reason + NOT_ISSUED]++;
	}
}

/* Up to now: cycles of all units, with what was left over. */
static void run_until(struct sampling *s, uint64_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->n_runs; i++) {
		struct fake_run *r = &s->runs[i];
		uint64_t end = r->end_ns < now ? r->end_ns : now;
		if (end > r->begin_ns) {
			s->rest_cycles +=
				own_ns(r->begin_ns, end) * FAKE_UNITS * FAKE_CLOCK_KHZ / 1000000u;
			uint64_t n = s->rest_cycles >> s->period;
			s->rest_cycles &= (UINT64_C(1) << s->period) - 1;
			s->samples_held += n;
			s->is_full = s->is_full || s->samples_held > s->hardware_bytes / 32;
			for (uint64_t k = 0; k < n && !s->is_full; k++)
				sample(s, r);
			r->begin_ns = end;
		}
		if (r->end_ns > now)
			s->runs[kept++] = *r;
	}
	s->n_runs = kept;
}

static void forget(struct sampling *s)
{
	s->n_entries = s->n_given = 0;
	s->total = s->dropped = s->outside = s->samples_held = 0;
}

static void put(struct sampling *s, CUpti_PCSamplingData *d)
{
	d->totalSamples = s->total;
	d->droppedSamples = s->dropped;
	d->nonUsrKernelsTotalSamples = s->outside;
	s->total = s->dropped = s->outside = 0;
	for (d->totalNumPcs = 0; d->totalNumPcs < d->collectNumPcs && s->n_given < s->n_entries;
	     d->totalNumPcs++) {
		const struct entry *e = &s->entries[s->n_given++];
		CUpti_PCSamplingPCData *p = &d->pPcData[d->totalNumPcs];
		p->cubinCrc = e->crc;
		p->pcOffset = e->offset;
		p->functionIndex = e->index;
		p->functionName = e->name;
		p->correlationId = e->correlation;
		p->stallReasonCount = 0;
		for (uint32_t i = 0; i < N_REASONS; i++)
			if (e->counts[i])
				p->stallReason[p->stallReasonCount++] =
					(CUpti_PCSamplingStallReason){N_REASONS - 1 - i,
								      e->counts[i]};
	}
	d->remainingNumPcs = s->n_entries - s->n_given;
	if (!d->remainingNumPcs)
		forget(s);
}

/* ---- CUPTI's calls --------------------------------------------------------------------------- */

API CUptiResult cuptiRegisterComputeCrcCallback(CUpti_ComputeCrcCallbackFunc f)
{
	compute_crc = f;
	return CUPTI_SUCCESS;
}

/* As the driver: not before all is done. */
static void wait_for_kernels(uint32_t device)
{
	uint64_t until = fake_busy_until_ns(device);
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

API CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p)
{
	struct sampling *s = of(p->ctx);
	if (fake_is("refused"))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if (p->size != CUpti_PCSamplingEnableParamsSize || !p->ctx || s->is_enabled)
		return CUPTI_ERROR_INVALID_PARAMETER;
	wait_for_kernels(fake_device_of(p->ctx));
	pthread_mutex_lock(&lock);
	struct entry *entries = s->entries ? s->entries : malloc(MAX_ENTRIES * sizeof *entries);
	struct fake_run *runs = s->runs ? s->runs : malloc(MAX_RUNS * sizeof *runs);
	*s = (struct sampling){.entries = entries, .runs = runs, .n_sampled = s->n_sampled};
	s->is_enabled = true;
	s->enabled_ns = fake_now_ns();
	s->period = 11;
	s->hardware_bytes = (size_t)512 << 20;
	s->mode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p)
{
	struct sampling *s = of(p->ctx);
	if (!s->is_enabled)
		return s->is_gone ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_ERROR_INVALID_OPERATION;
	if (!p->ctx)
		return CUPTI_ERROR_INVALID_PARAMETER;
	wait_for_kernels(fake_device_of(p->ctx));
	pthread_mutex_lock(&lock);
	run_until(s, UINT64_MAX);
	if (s->is_full)
		forget(s);
	if (s->left) {
		put(s, s->left);
		s->left->hardwareBufferFull = s->is_full;
	}
	forget(s);
	s->is_enabled = s->is_configured = false;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p)
{
	struct sampling *s = of(p->ctx);
	CUpti_PCSamplingData *d = p->pcSamplingData;
	if (!s->is_enabled || !s->is_configured || !s->left || d == s->left)
		return s->is_gone ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_ERROR_INVALID_OPERATION;
	if (fake_is("pcunknown"))
		return CUPTI_ERROR_UNKNOWN;
	pthread_mutex_lock(&lock);
	d->hardwareBufferFull = 0;
	d->totalNumPcs = d->remainingNumPcs = 0;
	d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = 0;
	run_until(s, fake_now_ns());
	if (s->is_full) {
		forget(s);
		d->hardwareBufferFull = 1;
	} else if (fake_now_ns() > s->enabled_ns + DELAY_NS) {
		put(s, d);
		s->samples_held = 0;
	}
	pthread_mutex_unlock(&lock);
	return s->is_full ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
	struct sampling *s = of(p->ctx);
	*p->numStallReasons = N_REASONS;
	return s->is_enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

API CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
	struct sampling *s = of(p->ctx);
	if (!s->is_enabled || p->numStallReasons < N_REASONS)
		return CUPTI_ERROR_INVALID_OPERATION;
	for (uint32_t i = 0; i < N_REASONS; i++) {
		uint32_t reason = (i * 5) % N_REASONS;
		p->stallReasonIndex[i] = N_REASONS - 1 - reason;
		snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[reason]);
	}
	return CUPTI_SUCCESS;
}

static CUptiResult set(struct sampling *s, CUpti_PCSamplingConfigurationInfo *a)
{
	uint32_t period = a->attributeData.samplingPeriodData.samplingPeriod;
	switch (a->attributeType) {
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
		if (period < 5 || period > 31)
			return CUPTI_ERROR_INVALID_OPERATION;
		s->period = period;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
		s->hardware_bytes = a->attributeData.hardwareBufferSizeData.hardwareBufferSize;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
		s->mode = a->attributeData.collectionModeData.collectionMode;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
		s->left = a->attributeData.samplingDataBufferData.samplingDataBuffer;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON:
		return a->attributeData.stallReasonData.stallReasonCount == N_REASONS
			       ? CUPTI_SUCCESS
			       : CUPTI_ERROR_INVALID_OPERATION;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT:
		return CUPTI_SUCCESS;
	default: /* start/stop control above all: nobody may want it */
		return CUPTI_ERROR_INVALID_PARAMETER;
	}
}

API CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p)
{
	struct sampling *s = of(p->ctx);
	CUptiResult r = s->is_enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; s->is_enabled && i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		a->attributeStatus = set(s, a);
		r = a->attributeStatus == CUPTI_SUCCESS ? r : CUPTI_ERROR_INVALID_PARAMETER;
	}
	s->is_configured = r == CUPTI_SUCCESS;
	pthread_mutex_unlock(&lock);
	return r;
}

API CUptiResult cuptiPCSamplingGetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p)
{
	struct sampling *s = of(p->ctx);
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		a->attributeStatus = CUPTI_SUCCESS;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			a->attributeData.samplingPeriodData.samplingPeriod = s->period;
		else if (a->attributeType ==
			 CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			a->attributeData.hardwareBufferSizeData.hardwareBufferSize =
				s->hardware_bytes;
		else if (a->attributeType ==
			 CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			a->attributeData.collectionModeData.collectionMode = s->mode;
		else
			a->attributeStatus = CUPTI_ERROR_INVALID_PARAMETER;
	}
	return CUPTI_SUCCESS;
}
