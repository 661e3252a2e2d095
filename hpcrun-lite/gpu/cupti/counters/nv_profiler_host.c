/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_profiler_host.h. Test: tests/cli/gpu/counters.sh. */
#include "hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h"
#include "hpcrun-lite/gpu/cupti/nv.h"

#include <dlfcn.h>
#include <string.h>

const char *nv_profiler_open(struct nv_profiler *p, const char *path)
{
#define WANTED(name)            \
	{                       \
#name, &p->name \
	}
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		WANTED(cuptiProfilerInitialize),
		WANTED(cuptiDeviceGetChipName),
		WANTED(cuptiProfilerGetCounterAvailability),
		WANTED(cuptiProfilerHostInitialize),
		WANTED(cuptiProfilerHostDeinitialize),
		WANTED(cuptiProfilerHostConfigAddMetrics),
		WANTED(cuptiProfilerHostGetConfigImageSize),
		WANTED(cuptiProfilerHostGetConfigImage),
		WANTED(cuptiProfilerHostGetNumOfPasses),
		WANTED(cuptiProfilerHostEvaluateToGpuValues),
		WANTED(cuptiRangeProfilerEnable),
		WANTED(cuptiRangeProfilerDisable),
		WANTED(cuptiRangeProfilerGetCounterDataSize),
		WANTED(cuptiRangeProfilerCounterDataImageInitialize),
		WANTED(cuptiRangeProfilerSetConfig),
		WANTED(cuptiRangeProfilerStart),
		WANTED(cuptiRangeProfilerStop),
		WANTED(cuptiRangeProfilerPushRange),
		WANTED(cuptiRangeProfilerPopRange),
		WANTED(cuptiRangeProfilerCounterDataGetRangeInfo),
		WANTED(cuptiRangeProfilerDecodeData),
		WANTED(cuptiRangeProfilerGetCounterDataInfo),
	};
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *symbol = library ? nv_library_symbol(library, wanted[i].name) : NULL;
		if (!symbol)
			return wanted[i].name;
		memcpy(wanted[i].to, &symbol, sizeof symbol);
	}
	return NULL;
}
