/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_counter_session.h. Test: tests/cli/gpu/counters.sh. */
#include "hpcrun-lite/gpu/cupti/counters/nv_counter_session.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <string.h>
#include <sys/mman.h>

#define DURATION "gpu__time_duration.sum" /* ns */
#define NO_MEMORY "there is no memory for counted values"

static bool refuse(struct nv_counter_refusal *why, const char *what, CUptiResult r)
{
	*why = (struct nv_counter_refusal){what, r};
	return false;
}

static uint8_t *map(size_t n)
{
	long at = sys_mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return n && !sys_is_error(at) ? (uint8_t *)at : NULL;
}

static void unmap(uint8_t *at, size_t n)
{
	if (at)
		sys_munmap(at, n);
}

/* ---- counters and their configuration ---- */

static CUptiResult open_host(struct nv_counter_session *s, const char *chip,
			     const uint8_t *availability)
{
	struct nv_host_initialize p = {.bytes = sizeof p,
				       .type = NV_RANGE_PROFILER,
				       .chip = chip,
				       .availability = availability};
	CUptiResult r = s->api->cuptiProfilerHostInitialize(&p);
	s->host = r == CUPTI_SUCCESS ? p.host : NULL;
	return r;
}

static void close_host(struct nv_counter_session *s)
{
	if (s->host)
		s->api->cuptiProfilerHostDeinitialize(&(struct nv_host_deinitialize){
			.bytes = sizeof(struct nv_host_deinitialize), .host = s->host});
	s->host = NULL;
}

static CUptiResult add(struct nv_counter_session *s, const char **names, size_t n)
{
	return s->api->cuptiProfilerHostConfigAddMetrics(
		&(struct nv_host_add_metrics){.bytes = sizeof(struct nv_host_add_metrics),
					      .host = s->host,
					      .names = names,
					      .n = n});
}

static bool has_counter(struct nv_counter_session *s, const char *chip, const uint8_t *availability,
			const char *name)
{
	bool has = open_host(s, chip, availability) == CUPTI_SUCCESS &&
		   add(s, &name, 1) == CUPTI_SUCCESS;
	close_host(s);
	return has;
}

/*
 * The names of counters of instructions contain "_sass_". CUPTI counts instructions by changing the
 * kernel, which it does only for kernels that it replays. Otherwise it returns 0.
 */
static void keep(struct nv_counter_session *s, const char *name)
{
	s->names[s->n_counters++] = name;
	if (strstr(name, "_sass_"))
		s->of_instructions = name;
}

/* Leaves out counters that this GPU does not have. We must ask CUPTI for one at a time. */
static void find_counters(struct nv_counter_session *s, const struct nv_counter_list *l,
			  const char *chip, const uint8_t *availability, const char **absent)
{
	s->n_counters = 0;
	for (unsigned i = 0; i < l->n; i++)
		if (has_counter(s, chip, availability, l->at[i].name))
			keep(s, l->at[i].name);
		else if (!*absent)
			*absent = l->at[i].name;
	s->n_names = s->n_counters;
}

static bool configure(struct nv_counter_session *s, const char *chip, const uint8_t *availability,
		      struct nv_counter_refusal *why)
{
	CUptiResult r = open_host(s, chip, availability);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "the counters of this GPU are unknown", r);
	r = add(s, s->names, s->n_names);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "the counters cannot be combined", r);
	struct nv_host_image_size size = {.bytes = sizeof size, .host = s->host};
	r = s->api->cuptiProfilerHostGetConfigImageSize(&size);
	if (r != CUPTI_SUCCESS || !(s->config = map(size.image_bytes)))
		return refuse(why, "the counters have no configuration", r);
	s->config_bytes = size.image_bytes;
	struct nv_host_image image = {.bytes = sizeof image,
				      .host = s->host,
				      .image_bytes = s->config_bytes,
				      .image = s->config};
	r = s->api->cuptiProfilerHostGetConfigImage(&image);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "the counters have no configuration", r);
	struct nv_host_passes passes = {
		.bytes = sizeof passes, .image_bytes = s->config_bytes, .image = s->config};
	r = s->api->cuptiProfilerHostGetNumOfPasses(&passes);
	s->n_passes = passes.n;
	return r == CUPTI_SUCCESS || refuse(why, "the counters have no number of passes", r);
}

static void forget_configuration(struct nv_counter_session *s)
{
	close_host(s);
	unmap(s->config, s->config_bytes);
	s->config = NULL;
}

/* A replayed kernel has a record without times, so we also count its duration. */
static bool configure_all(struct nv_counter_session *s, const char *chip,
			  const uint8_t *availability, struct nv_counter_refusal *why)
{
	if (!configure(s, chip, availability, why))
		return false;
	if (!nv_counter_session_replays(s))
		return true;
	const size_t n_passes = s->n_passes;
	forget_configuration(s);
	s->names[s->n_names++] = DURATION;
	bool good = configure(s, chip, availability, why);
	s->n_passes = n_passes; /* without the duration: of the counters that the user asked for */
	return good;
}

/* Chooses the counters that this GPU has. They depend on the chip and on its state. */
static bool choose(struct nv_counter_session *s, const struct nv_counter_list *l, uint32_t device,
		   const char **absent, struct nv_counter_refusal *why)
{
	CUpti_Device_GetChipName_Params chip = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE, .deviceIndex = device};
	CUptiResult r = s->api->cuptiDeviceGetChipName(&chip);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "the chip of this GPU is unknown", r);
	CUpti_Profiler_GetCounterAvailability_Params p = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = s->context};
	r = s->api->cuptiProfilerGetCounterAvailability(&p);
	if (r == CUPTI_SUCCESS) {
		p.pCounterAvailabilityImage = map(p.counterAvailabilityImageSize);
		if (!p.pCounterAvailabilityImage)
			return refuse(why, NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
		r = s->api->cuptiProfilerGetCounterAvailability(&p);
	}
	bool good = r == CUPTI_SUCCESS || refuse(why, "the counters cannot be read", r);
	if (good)
		find_counters(s, l, chip.pChipName, p.pCounterAvailabilityImage, absent);
	if (good && !s->n_counters)
		good = refuse(why, "this GPU has none of the counters", CUPTI_SUCCESS);
	good = good && configure_all(s, chip.pChipName, p.pCounterAvailabilityImage, why);
	unmap(p.pCounterAvailabilityImage, p.counterAvailabilityImageSize);
	return good;
}

/* ---- the profiler of a context ---- */

/* Replayed kernels are taken out one by one. Two more, so that CUPTI never has to drop a range. */
static uint32_t most_ranges(const struct nv_counter_session *s)
{
	return (nv_counter_session_replays(s) ? 1 : NV_COUNTER_RANGES) + 2;
}

static bool clear_image(struct nv_counter_session *s, struct nv_counter_refusal *why)
{
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params p = {
		.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.counterDataSize = s->image_bytes,
		.pCounterData = s->image};
	CUptiResult r = s->api->cuptiRangeProfilerCounterDataImageInitialize(&p);
	return r == CUPTI_SUCCESS || refuse(why, "counted values have no place", r);
}

static bool enable(struct nv_counter_session *s, struct nv_counter_refusal *why)
{
	CUpti_RangeProfiler_Enable_Params p = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, .ctx = s->context};
	CUptiResult r = s->api->cuptiRangeProfilerEnable(&p);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "CUPTI refuses its profiler", r);
	s->object = p.pRangeProfilerObject;
	CUpti_RangeProfiler_GetCounterDataSize_Params size = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.pMetricNames = s->names,
		.numMetrics = s->n_names,
		.maxNumOfRanges = most_ranges(s),
		.maxNumRangeTreeNodes = 2 * most_ranges(s)};
	r = s->api->cuptiRangeProfilerGetCounterDataSize(&size);
	if (r != CUPTI_SUCCESS)
		return refuse(why, "counted values have no size", r);
	s->image_bytes = size.counterDataSize;
	s->image = map(s->image_bytes);
	return s->image || refuse(why, NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
}

bool nv_counter_session_start(struct nv_counter_session *s, struct nv_counter_refusal *why)
{
	CUpti_RangeProfiler_SetConfig_Params set = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object,
		.configSize = s->config_bytes,
		.pConfig = s->config,
		.counterDataImageSize = s->image_bytes,
		.pCounterDataImage = s->image,
		.range = nv_counter_session_replays(s) ? CUPTI_AutoRange : CUPTI_UserRange,
		.replayMode = nv_counter_session_replays(s) ? CUPTI_KernelReplay : CUPTI_UserReplay,
		.maxRangesPerPass = most_ranges(s),
		.numNestingLevels = 1,
		.minNestingLevel = 1};
	CUpti_RangeProfiler_Start_Params start = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object};
	s->n_launches = 0;
	if (!clear_image(s, why))
		return false;
	CUptiResult r = s->api->cuptiRangeProfilerSetConfig(&set);
	if (r == CUPTI_SUCCESS)
		r = s->api->cuptiRangeProfilerStart(&start);
	s->is_on = r == CUPTI_SUCCESS;
	return s->is_on || refuse(why, "CUPTI cannot start its profiler", r);
}

bool nv_counter_session_begin(struct nv_counter_session *s, const struct nv_counter_list *l,
			      uint32_t device, bool replays, const char **absent,
			      struct nv_counter_refusal *why)
{
	*absent = NULL;
	bool good = choose(s, l, device, absent, why);
	if (good && nv_counter_session_replays(s) && !replays)
		good = refuse(why, NULL, CUPTI_SUCCESS);
	good = good && enable(s, why) && nv_counter_session_start(s, why);
	if (!good)
		nv_counter_session_end(s);
	return good;
}

/* ---- ranges ---- */

void nv_counter_session_enter(struct nv_counter_session *s)
{
	char name[16];
	struct text t = text_in(name, sizeof name);
	text_put_u64(&t, s->n_launches);
	s->launches[s->n_launches] = 0;
	s->is_open = nv_counter_session_replays(s) ||
		     s->api->cuptiRangeProfilerPushRange(&(CUpti_RangeProfiler_PushRange_Params){
			     .structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
			     .pRangeProfilerObject = s->object,
			     .pRangeName = name}) == CUPTI_SUCCESS;
}

void nv_counter_session_leave(struct nv_counter_session *s, uint64_t id)
{
	if (s->is_open && !nv_counter_session_replays(s))
		s->api->cuptiRangeProfilerPopRange(&(CUpti_RangeProfiler_PopRange_Params){
			.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
			.pRangeProfilerObject = s->object});
	s->n_lost += !s->is_open;
	if (s->is_open)
		s->launches[s->n_launches++] = id;
	s->is_open = false;
}

/* ---- taking out ---- */

static bool stop(struct nv_counter_session *s, size_t *n_ranges, struct nv_counter_refusal *why)
{
	CUpti_RangeProfiler_Stop_Params end = {.structSize =
						       CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
					       .pRangeProfilerObject = s->object};
	CUpti_RangeProfiler_DecodeData_Params decode = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = s->object};
	CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = s->image,
		.counterDataImageSize = s->image_bytes};
	s->is_on = false;
	CUptiResult r = s->api->cuptiRangeProfilerStop(&end);
	if (r == CUPTI_SUCCESS && s->n_launches)
		r = s->api->cuptiRangeProfilerDecodeData(&decode);
	if (r == CUPTI_SUCCESS)
		r = s->api->cuptiRangeProfilerGetCounterDataInfo(&info);
	*n_ranges = info.numTotalRanges;
	return r == CUPTI_SUCCESS || refuse(why, "counted values cannot be read", r);
}

/* Returns the index in `launches` of a range; n_launches: there is none. */
static size_t launch_of(const struct nv_counter_session *s, size_t range)
{
	CUpti_RangeProfiler_CounterData_GetRangeInfo_Params p = {
		.structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = s->image,
		.counterDataImageSize = s->image_bytes,
		.rangeIndex = range,
		.rangeDelimiter = "/"};
	unsigned n = 0;
	if (nv_counter_session_replays(s))
		return range;
	if (s->api->cuptiRangeProfilerCounterDataGetRangeInfo(&p) != CUPTI_SUCCESS ||
	    !p.rangeName || !*p.rangeName)
		return s->n_launches;
	for (const char *c = p.rangeName; *c; c++) {
		if (*c < '0' || *c > '9' || n >= s->n_launches)
			return s->n_launches;
		n = 10 * n + (unsigned)(*c - '0');
	}
	return n < s->n_launches ? n : s->n_launches;
}

static bool evaluate(const struct nv_counter_session *s, size_t range, double *values)
{
	struct nv_host_evaluate p = {.bytes = sizeof p,
				     .host = s->host,
				     .image = s->image,
				     .image_bytes = s->image_bytes,
				     .range = range,
				     .names = (const char **)(uintptr_t)s->names,
				     .n = s->n_names,
				     .values = values};
	for (unsigned i = 0; i < s->n_names; i++)
		values[i] = -1;
	return s->api->cuptiProfilerHostEvaluateToGpuValues(&p) == CUPTI_SUCCESS;
}

/* Returns true if v can be the sum of a counter. Anything else, such as NaN, is no value. */
static bool is_sum(double v)
{
	return v >= 0 && v < 0x1p63;
}

/* Returns false if nothing was launched, or the range has no values. */
static bool read_range(const struct nv_counter_session *s, size_t range, struct nv_counted *c,
		       double *values)
{
	size_t launch = launch_of(s, range);
	if (launch >= s->n_launches || !s->launches[launch] || !evaluate(s, range, values))
		return false;
	for (unsigned k = 0; k < s->n_names; k++)
		if (!is_sum(values[k]))
			return false;
	*c = (struct nv_counted){.id = s->launches[launch], .values = values};
	if (s->n_names > s->n_counters)
		c->ns = (uint64_t)values[s->n_counters];
	return true;
}

bool nv_counter_session_take(struct nv_counter_session *s,
			     void (*each)(const struct nv_counter_session *s,
					  const struct nv_counted *c),
			     struct nv_counter_refusal *why)
{
	double values[NV_MAX_COUNTERS + 1];
	struct nv_counted c;
	size_t n_ranges = 0, n_taken = 0, n_wanted = 0;
	bool good = stop(s, &n_ranges, why);
	for (unsigned i = 0; i < s->n_launches; i++)
		n_wanted += s->launches[i] != 0;
	/* CUPTI also replayed another kernel, so we do not know which range is ours */
	if (nv_counter_session_replays(s) && n_ranges != s->n_launches)
		n_ranges = 0;
	for (size_t i = 0; good && i < n_ranges; i++) {
		if (!read_range(s, i, &c, values))
			continue;
		c.is_first = n_taken++ == 0;
		each(s, &c);
	}
	s->n_lost += n_wanted > n_taken ? n_wanted - n_taken : 0;
	s->n_launches = 0;
	if (!good)
		nv_counter_session_end(s);
	return good;
}

void nv_counter_session_end(struct nv_counter_session *s)
{
	if (s->object)
		s->api->cuptiRangeProfilerDisable(&(CUpti_RangeProfiler_Disable_Params){
			.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
			.pRangeProfilerObject = s->object});
	s->object = NULL;
	s->is_on = false;
	forget_configuration(s);
	unmap(s->image, s->image_bytes);
	s->image = NULL;
}
