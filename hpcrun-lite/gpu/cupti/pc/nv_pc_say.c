/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages about PC sampling: how it began, why it is not available, and when its samples cannot be
 * trusted. Test: tests/unit/cupti/test_cupti_pc.c.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "common/safe/text.h"

#define USUAL_CLOCK_MHZ 1500u        /* if the driver does not report it */
#define USUAL_UNITS 100u

void nv_pc_say(const struct nv_pc_session *s, const char *what, const char *more)
{
	char head[64];
	struct text t = text_in(head, sizeof head);
	text_put(&t, "PC sampling of GPU ");
	text_put_u64(&t, s->device);
	nv_note(head, what, more);
}

void nv_pc_say_refused(const struct nv_pc_session *s, CUptiResult r)
{
	if (r == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
	    r == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
		nv_pc_say(s,
			  " is not permitted: it needs root, CAP_SYS_ADMIN, or the option "
			  "NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia; "
			  "operations are still traced",
			  "");
	else if (nv_device_attribute((CUdevice)s->device,
				     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 7)
		nv_pc_say(s,
			  " is refused: it needs a GPU of compute capability 7.0 or later; "
			  "operations are still traced. CUPTI says ",
			  nv_result_name(r));
	else
		nv_pc_say(s, " is refused: ", nv_result_name(r));
}

/* Each multiprocessor of the GPU gives one sample in 2^exponent cycles. */
uint64_t nv_pc_most_per_s(const struct nv_pc_session *s, uint32_t exponent)
{
	return UINT64_C(1000000) * (s->clock_mhz ? s->clock_mhz : USUAL_CLOCK_MHZ) *
		       (s->n_units ? s->n_units : USUAL_UNITS) >>
	       exponent;
}

void nv_pc_say_begun(const struct nv_pc_session *s, uint64_t took_ns)
{
	static const char *const modes[] = {[NV_PC_CONTINUOUS] = "continuous",
					    [NV_PC_SERIALIZED] = "serialized",
					    [NV_PC_BURSTS] = "continuous, with serialized bursts"};
	char line[256];
	struct text t = text_in(line, sizeof line);
	text_put(&t, modes[nv.options.pc]);
	text_put(&t, ", a sample every 2^");
	text_put_u64(&t, s->exponent);
	text_put(&t, " cycles of a multiprocessor");
	if (s->n_units && s->clock_mhz) {
		text_put(&t, ", ");
		text_put_grouped(&t, nv_pc_most_per_s(s, s->exponent));
		text_put(&t, " a second at most");
	}
	text_put(&t, "; it took ");
	text_put_u64(&t, took_ns / 1000000u);
	text_put(&t, " ms to begin");
	nv_pc_say(s, ": ", line);
}

/*
 * Some chips accept a period or a buffer size but use another one. Then there are more samples than
 * possible, or none although kernels ran long enough for 1000 samples of one multiprocessor.
 */
void nv_pc_check_rate(const struct nv_pc_session *s)
{
	uint64_t ms = (nv.lib.now_ns() - s->begin_ns) / 1000000u,
		 kernel_ms = (nv_trace_kernel_ns(s->device) - s->begin_kernel_ns) / 1000000u;
	uint64_t most = nv_pc_most_per_s(s, s->least_exponent) / 1000 * (ms + 1000) / 20 * 21 +
			UINT64_C(10) * s->n_units;
	uint64_t least = nv_pc_most_per_s(s, s->exponent) /
			 (s->n_units ? s->n_units : USUAL_UNITS) * kernel_ms / 1000;
	if (s->n_units && s->n_samples > most)
		nv_pc_say(
			s,
			" delivers more samples than its period allows: do not trust their number",
			"");
	else if (!s->n_samples && least > 1000 && !s->is_full && !s->last_overflow_ns)
		nv_pc_say(s,
			  " delivered no sample although kernels ran for a second or more: its "
			  "period or buffer is not the requested one",
			  "");
}

/*
 * While kernels are recorded, CUPTI loses the place of some samples of short, overlapping kernels,
 * and it does not lose them evenly (doc/notes/cupti-facts.md A4).
 */
void nv_pc_check_outside(struct nv_pc_session *s)
{
	char line[32];
	struct text t = text_in(line, sizeof line);
	if (s->has_said_outside || s->n_samples < 1000 || s->n_outside * 50 < s->n_samples ||
	    nv.options.no_times)
		return;
	s->has_said_outside = true;
	text_put_fixed(&t, s->n_outside * 1000 / s->n_samples, 1);
	nv_note("CUPTI could not attribute ", line,
		" % of the PC samples to an instruction. This happens when short kernels from "
		"several streams overlap while they are timed, and to all samples with CUPTI "
		"12.8.0. gpu=nvidia,pc,notimes attributes all samples, but gives no times");
}
