/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as outputs show them, the same in all. Test: tests/unit/test_sink_names.c. */
#ifndef HPCPROF_SINK_NAMES_H
#define HPCPROF_SINK_NAMES_H

#include "common/base/strtab.h"
#include "hpcprof-lite/model/model.h"

/* A copy, owned by the caller, in which U+FFFD stands for each byte that is no UTF-8. NULL counts as ""; NULL when memory is short. */
char *names_clean(const char *s);
/* Interns a string; readers decode as UTF-8 and fail on what is not, so bytes that are none become U+FFFD. NULL counts as "". STRTAB_FAILED when memory is short. */
uint32_t names_add(struct strtab *t, const char *s);
/* "main thread", "application thread" (both HPCToolkit's), "partial call paths: no unwind information" ... */
const char *names_entry(const struct model_context *c);
/* The function's name, "<unknown function>" for an index that is none or a name that is empty. */
const char *names_function(const struct model *m, uint32_t function);
/*
 * Name of a metric whose values are shown as they are: its own, or, where people read a mean and the values are sums, that of the accumulator as HPCToolkit calls
 * it: "GKER:STMEM_ACUMU (B)". UTF-8 as of names_clean(). Owned by the caller; NULL when memory is short.
 */
char *names_metric(const struct model_metric *metric);
/* "GPU", "CPU device", "accelerator": what a device is called, before its number. */
static inline const char *names_device_type(const struct model_gpu_device *d)
{
	switch (d->definition ? d->definition->type : MSR_GPU_DEVICE_GPU) {
	case MSR_GPU_DEVICE_CPU: return "CPU device";
	case MSR_GPU_DEVICE_ACCELERATOR: return "accelerator";
	default: return "GPU";
	}
}
/* The module's path, "<unknown module>". */
const char *names_module(const struct model *m, uint32_t module);

#endif
