/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes samples from CUPTI's buffers to the host. For each instruction CUPTI gives the hash of its
 * code object (ours, see nv_pc_start), the index and name of its function, the offset in the
 * function, and a count for each stall reason. In every range, total == recorded + dropped +
 * outside. Test: tests/unit/cupti/test_cupti_pc.c.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "hpcrun-lite/gpu/hash128.h"

/* hash of the content -> code object */
static struct nv_map codes = {.lock = PTHREAD_MUTEX_INITIALIZER, .max = NV_MAX_NAMES};
/* hash of the content, index, device -> host's id */
static struct nv_map functions = {.lock = PTHREAD_MUTEX_INITIALIZER, .max = NV_MAX_NAMES};

/*
 * The checksum of this thread's last module. CUPTI asks for it right before it reports the module.
 */
static __thread uint64_t last_hash __attribute__((tls_model("initial-exec")));

/* ---- code objects ---- */

static uint64_t content_hash(const void *image, size_t bytes)
{
	uint64_t hash[2];
	hash128(image, bytes, 0, hash);
	return hash[0] ? hash[0] : 1;
}

static void CUPTIAPI compute_crc(const void *image, size_t bytes, uint64_t *crc)
{
	*crc = last_hash = image ? content_hash(image, bytes) : 0;
}

bool nv_pc_start(void)
{
	CUptiResult r = nv.lib.cuptiRegisterComputeCrcCallback(compute_crc);
	if (r != CUPTI_SUCCESS)
		nv_note("PC samples cannot be matched with code objects: ", nv_result_name(r),
			"; operations are still traced");
	return r == CUPTI_SUCCESS;
}

void nv_pc_code_loaded(const void *image, size_t bytes, uint32_t code)
{
	uint64_t hash = last_hash;
	last_hash = 0;
	if (nv.options.pc != NV_PC_OFF && nv_trace_off() == NV_OFF)
		atomic_fetch_add_explicit(&nv_pc.n_unseen, 1, memory_order_relaxed);
	if (nv.options.pc != NV_PC_OFF && code)
		nv_map_put(&codes, hash ? hash : content_hash(image, bytes), code);
}

static uint32_t function_of(const struct nv_pc_session *s, const CUpti_PCSamplingPCData *p)
{
	uint64_t key =
		p->cubinCrc ^ ((uint64_t)s->device << 32 ^ (p->functionIndex + UINT64_C(1))) *
				      UINT64_C(0x9e3779b97f4a7c15);
	uint32_t id = (uint32_t)nv_map_get(&functions, key);
	if (id)
		return id;
	const struct gpu_function f = {
		.code = nv_code_on((uint32_t)nv_map_get(&codes, p->cubinCrc), s->device),
		.name = p->functionName ? p->functionName : "",
		.part = nv_part_of};
	id = nv.host->function(nv.host, &f);
	if (f.code) /* otherwise its module may still be reported */
		nv_map_put(&functions, key, id);
	return id;
}

/* ---- samples ---- */

/* Returns the number of samples. */
static uint64_t take_instruction(const struct nv_pc_session *s, const CUpti_PCSamplingPCData *p)
{
	struct gpu_pc_sample samples[NV_PC_MAX_REASONS];
	size_t n = 0;
	uint32_t launch = s->is_serialized ? nv_version_pc_correlation(p) : 0;
	uint64_t sum = 0, id = launch ? nv_operation_id(launch) : 0;
	uint32_t function = function_of(s, p);
	for (size_t i = 0; i < p->stallReasonCount && n < NV_PC_MAX_REASONS; i++) {
		const CUpti_PCSamplingStallReason *r = &p->stallReason[i];
		struct nv_pc_reason reason = r->pcSamplingStallReasonIndex < NV_PC_MAX_REASONS
						     ? s->reasons[r->pcSamplingStallReasonIndex]
						     : (struct nv_pc_reason){0, 0};
		if (!r->samples || reason.count == NV_PC_COUNT_NOTHING)
			continue;
		samples[n++] = (struct gpu_pc_sample){.function = function,
						      .offset = p->pcOffset,
						      .id = id,
						      .count = r->samples,
						      .stall = reason.number};
		if (reason.count == NV_PC_COUNT_SAMPLE)
			sum += r->samples;
	}
	nv.host->pc_sample(nv.host, samples, n);
	return sum;
}

void nv_pc_take(struct nv_pc_session *s, const CUpti_PCSamplingData *data)
{
	if (nv_trace_off() != NV_ON) /* taken while measurement is off */
		return;
	s->sums.total += data->totalSamples;
	s->sums.dropped += data->droppedSamples;
	s->sums.outside += data->nonUsrKernelsTotalSamples;
	for (size_t i = 0; i < data->totalNumPcs && i < data->collectNumPcs; i++)
		s->sums.recorded += take_instruction(s, nv_version_pc(data, i));
}

void nv_pc_close_range(struct nv_pc_session *s, uint32_t flags, bool always)
{
	struct nv_pc_sums *n = &s->sums;
	if (nv_trace_off() != NV_ON)
		return;
	uint64_t now = nv.lib.now_ns(), found = n->recorded + n->dropped + n->outside;
	if (!n->total && !found && !always)
		return;
	/* samples of instructions that did not fit into the buffer that Disable fills */
	if (n->total > found) {
		n->dropped += n->total - found;
		flags |= MSR_GPU_RANGE_NOT_FITTED;
	}
	uint64_t start_ns = atomic_exchange_explicit(&s->range_begin_ns, now, memory_order_relaxed);
	nv.host->pc_range(
		nv.host, &(struct msr_gpu_pc_range){
				 .start_ns = start_ns,
				 .end_ns = now,
				 .total = n->total,
				 .recorded = n->recorded,
				 .dropped = n->dropped,
				 .outside = n->outside,
				 .period = UINT64_C(1) << s->exponent,
				 .context = s->context_id,
				 .samplers = s->n_units,
				 .flags = flags | (s->is_serialized ? MSR_GPU_RANGE_SERIALIZED : 0),
			 });
	s->n_samples += n->total;
	s->n_outside += n->outside;
	*n = (struct nv_pc_sums){0};
}
