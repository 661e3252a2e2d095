/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of a cubin: kernels, device functions, and the copies of device functions that ptxas
 * keeps inside a kernel's section under local symbols such as "$kernel$function". Test:
 * tests/cli/struct/struct_cubin.sh.
 */
#include "hpcstruct-lite/debug/cubin_internal.h"

#include "common/base/sorted.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_ENTRY 0x10u /* STO_CUDA_ENTRY of st_other: a kernel */

/*
 * Returns the function's name in "$kernel$function" and "$__internal_0_$function"; NULL if the
 * symbol is plain.
 */
static const char *local_name(const char *symbol)
{
	const char *second = symbol[0] == '$' ? strchr(symbol + 1, '$') : NULL;
	return second && second[1] ? second + 1 : NULL;
}

static bool add_function(const struct image *image, struct cubin_functions *f,
			 const struct image_symbol *s)
{
	const struct image_region *section = image_code_at(image, s->link_addr);
	if (s->type != STT_FUNC || !section || s->name[s->name_bytes] != '\0')
		return true;
	uint64_t end = section->start + section->n_bytes;
	if (s->n_bytes > 0 && s->n_bytes < end - s->link_addr)
		end = s->link_addr + s->n_bytes;
	const char *plain = local_name(s->name);
	struct cubin_function *slot = vec_push(&f->functions);
	if (slot)
		*slot = (struct cubin_function){s->link_addr,
						end,
						plain ? plain : s->name,
						plain ? s->name : NULL,
						{.is_kernel = (s->other & CUDA_ENTRY) != 0}};
	return slot != NULL;
}

static int compare_functions(const void *a, const void *b)
{
	const struct cubin_function *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool add_segment(struct cubin_functions *f, uint64_t start, uint64_t end, uint32_t function)
{
	if (end <= start)
		return true;
	struct cubin_segment *s = vec_push(&f->segments);
	if (s)
		*s = (struct cubin_segment){start, end, function};
	return s != NULL;
}

/* Cuts the ranges of functions into pieces. The function that starts last is the innermost. */
static bool make_segments(struct cubin_functions *f)
{
	VEC(uint32_t) open = {0};
	uint64_t position = 0;
	bool ok = true;
	for (size_t i = 0; i <= f->functions.n && ok; i++) {
		uint64_t start = i < f->functions.n ? f->functions.at[i].start : UINT64_MAX;
		while (open.n > 0 && position < start && ok) {
			uint32_t top = open.at[open.n - 1];
			uint64_t end = f->functions.at[top].end, until = end < start ? end : start;
			ok = add_segment(f, position, until, top);
			position = until > position ? until : position;
			if (end <= start)
				open.n--;
		}
		uint32_t *slot = ok && i < f->functions.n ? vec_push(&open) : NULL;
		ok = ok && (slot || i == f->functions.n);
		if (slot)
			*slot = (uint32_t)i;
		position = position > start ? position : start;
	}
	vec_free(&open);
	return ok;
}

bool cubin_functions_read(const struct image *image, struct cubin_functions *f)
{
	struct image_symbols symbols = {0};
	bool ok = image_read_symbols(image, NULL, &symbols) == STATUS_OK;
	for (size_t i = 0; i < symbols.n && ok; i++)
		ok = add_function(image, f, &symbols.at[i]);
	vec_free(&symbols);
	if (ok && f->functions.n > 1)
		qsort(f->functions.at, f->functions.n, sizeof *f->functions.at, compare_functions);
	return ok && make_segments(f);
}

void cubin_functions_free(struct cubin_functions *f)
{
	vec_free(&f->functions);
	vec_free(&f->segments);
}

size_t cubin_function_not_before(const struct cubin_functions *f, uint64_t link_addr)
{
	return sorted_below(f->functions.at, f->functions.n, start, link_addr);
}

struct cubin_function *cubin_function_from(struct cubin_functions *f, uint64_t link_addr)
{
	size_t i = cubin_function_not_before(f, link_addr);
	return i < f->functions.n && f->functions.at[i].start == link_addr ? &f->functions.at[i]
									   : NULL;
}

size_t cubin_segment_from(const struct cubin_functions *f, uint64_t link_addr)
{
	return sorted_below(f->segments.at, f->segments.n, start, link_addr);
}

const struct cubin_segment *cubin_segment_at(const struct cubin_functions *f, uint64_t link_addr)
{
	size_t i = link_addr < UINT64_MAX ? cubin_segment_from(f, link_addr + 1) : f->segments.n;
	return i > 0 && link_addr < f->segments.at[i - 1].end ? &f->segments.at[i - 1] : NULL;
}
