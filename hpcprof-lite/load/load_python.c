/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads what the file says about Python: code objects, and modules of PyTorch. See load_records.h.
 * Tests: tests/cli/python/python_frames.sh, tests/unit/prof_torch/test_torch_modules.c.
 */
#include "hpcprof-lite/load/load_records.h"

/* True if there are two neighbouring strings of these lengths, each with its NUL. */
static bool are_strings(const char *at, uint32_t first_bytes, uint32_t second_bytes)
{
	return first_bytes && second_bytes && !at[first_bytes - 1] &&
	       !at[first_bytes + second_bytes - 1];
}

/*
 * Bounds ids by the number of records that the file can hold, so a damaged id cannot make us
 * allocate much.
 */
static bool is_possible(const struct load_file *f, uint32_t id, size_t record_bytes)
{
	return id && id <= f->map.n_bytes / record_bytes;
}

enum status load_python_code(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_python_code *r = (const void *)record;
	uint64_t strings = bytes < sizeof *r ? 0 : (uint64_t)r->file_bytes + r->name_bytes;
	if (bytes < sizeof *r || strings + r->line_bytes > bytes - sizeof *r ||
	    !is_possible(f, r->id, sizeof *r) || r->first_line > INT32_MAX)
		return STATUS_BAD_INPUT;
	const char *file = (const char *)(r + 1), *name = file + r->file_bytes;
	if (!are_strings(file, r->file_bytes, r->name_bytes))
		return STATUS_BAD_INPUT;
	if (f->python.n <= r->id && !vec_extend(&f->python, r->id + 1 - f->python.n))
		return STATUS_NO_MEMORY;
	struct load_python *p = &f->python.at[r->id];
	if (p->record)
		return STATUS_BAD_INPUT;
	*p = (struct load_python){r, file, name, (const uint8_t *)name + r->name_bytes};
	return STATUS_OK;
}

enum status load_torch_module(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_torch_module *r = (const void *)record;
	if (bytes < sizeof *r || (uint64_t)r->name_bytes + r->class_bytes > bytes - sizeof *r ||
	    !is_possible(f, r->id, sizeof *r) || r->parent >= r->id ||
	    !are_strings((const char *)(r + 1), r->name_bytes, r->class_bytes))
		return STATUS_BAD_INPUT;
	if (f->torch_modules.n <= r->id &&
	    !vec_extend(&f->torch_modules, r->id + 1 - f->torch_modules.n))
		return STATUS_NO_MEMORY;
	struct load_torch_module *m = &f->torch_modules.at[r->id];
	if (m->record)
		return STATUS_BAD_INPUT;
	*m = (struct load_torch_module){r, (const char *)(r + 1),
					(const char *)(r + 1) + r->name_bytes};
	return STATUS_OK;
}
