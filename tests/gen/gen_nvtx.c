/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_nvtx.h. */
#include "tests/gen/gen_nvtx.h"

#include "tests/gen/gen_extent.h"

#include <string.h>

void gen_nvtx_name(const char *path, struct msr_nvtx_name name, const char *text)
{
	uint64_t content[512] = {0};
	const size_t n_text = strnlen(text, sizeof content - sizeof name - 8);
	name.text_bytes = (uint32_t)n_text + 1;
	name.bytes = (uint32_t)(sizeof name + n_text + 1 + 7) & ~7u;
	memcpy(content, &name, sizeof name);
	memcpy((char *)content + sizeof name, text, n_text);
	gen_add_extent(path, &(struct gen_extent){.kind = MSR_NVTX_NAME, .thread = UINT32_MAX},
		       content, name.bytes);
}

void gen_nvtx_ranges(const char *path, uint32_t thread, const struct msr_nvtx_range *r, size_t n)
{
	gen_add_extent(path,
		       &(struct gen_extent){.kind = MSR_NVTX_RANGE,
					    .record_bytes = sizeof *r,
					    .thread = thread},
		       r, n * sizeof *r);
}

void gen_nvtx_events(const char *path, uint32_t thread, const struct msr_nvtx_event *e, size_t n)
{
	gen_add_extent(path,
		       &(struct gen_extent){.kind = MSR_NVTX_EVENT,
					    .record_bytes = sizeof *e,
					    .thread = thread},
		       e, n * sizeof *e);
}
