/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as all outputs show them. Test: tests/unit/sink/test_sink_names.c. */
#ifndef HPCPROF_VIEW_NAMES_H
#define HPCPROF_VIEW_NAMES_H

#include "common/base/strtab.h"
#include "hpcprof-lite/model/model.h"

#include <stdio.h>
#include <string.h>

/*
 * Returns a copy in which U+FFFD replaces each byte that is not UTF-8. The caller owns it. NULL
 * counts as "". Returns NULL if memory is short.
 */
char *names_clean(const char *s);
/*
 * Interns a string. Bytes that are not UTF-8 become U+FFFD, because readers decode UTF-8 and fail
 * on other bytes. NULL counts as "". STRTAB_FAILED if memory is short.
 */
uint32_t names_add(struct strtab *t, const char *s);
/*
 * "main thread", "application thread" (both as in HPCToolkit), "partial call paths: no unwind
 * information" and so on.
 */
const char *names_entry(const struct model_context *c);
/*
 * The name of the function. "<unknown function>" if the index is out of range or the name is empty.
 */
const char *names_function(const struct model *m, uint32_t function);
/*
 * The name of a metric for outputs that show its values unchanged. If people read a mean and the
 * values are sums, this is HPCToolkit's name of the accumulator: "GKER:STMEM_ACUMU (B)". UTF-8 as
 * in names_clean(). The caller owns it. NULL if memory is short.
 */
char *names_metric(const struct model_metric *metric);
/* True if these bytes name the metric, with or without its unit: "GKER (sec)", "GKER". */
static inline bool names_is_metric(const char *metric, enum model_unit unit, const char *name,
				   size_t n_bytes)
{
	return (n_bytes == strlen(metric) || n_bytes == model_metric_stem(metric, unit)) &&
	       memcmp(metric, name, n_bytes) == 0;
}
/*
 * Appends the name without its unit to a list with commas, as --metric takes it. NAMES_LIST bytes
 * are enough for all metrics.
 */
#define NAMES_LIST 8192
static inline void names_list_metric(char *list, size_t n_bytes, const char *metric,
				     enum model_unit unit)
{
	const size_t used = strlen(list);
	snprintf(list + used, n_bytes - used, "%s%.*s", used ? ", " : "",
		 (int)model_metric_stem(metric, unit), metric);
}
/* The word before the number of a device: "GPU", "CPU device", "accelerator". */
static inline const char *names_device_type(const struct model_gpu_device *d)
{
	switch (d->definition ? d->definition->type : MSR_GPU_DEVICE_GPU) {
	case MSR_GPU_DEVICE_CPU: return "CPU device";
	case MSR_GPU_DEVICE_ACCELERATOR: return "accelerator";
	default: return "GPU";
	}
}
/* The path of the module, or "<unknown module>". */
const char *names_module(const struct model *m, uint32_t module);

#endif
