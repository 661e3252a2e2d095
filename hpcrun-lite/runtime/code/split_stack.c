/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises programs with split stacks; see module.h. Test: tests/cli/sacred/sacred_state.sh. */
#include "hpcrun-lite/runtime/code/module.h"

#include "common/safe/load.h"

#include <link.h>
#include <string.h>

/*
 * True for the constructor of libgcc's split-stack support, which sets the word at %fs:0x70 and is
 * one of the program's first constructors. Code built with -fsplit-stack leaves no room for a
 * signal frame.
 */
static bool sets_limit(const uint8_t *code)
{
	static const uint8_t store[] = {0x64, 0x48, 0x89, 0x04, 0x25, 0x70, 0, 0, 0};
	uint8_t begin[32];
	return load_guarded(begin, (uintptr_t)code, sizeof begin) == sizeof begin &&
	       memmem(begin, sizeof begin, store, sizeof store);
}

static int look_for_limit(struct dl_phdr_info *info, size_t n, void *is_split)
{
	enum { MOST = 4 };
	uintptr_t array = 0, bytes = 0;
	(void)n;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		const ElfW(Dyn) *d =
			(const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		for (; d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_INIT_ARRAY)
				array = info->dlpi_addr + d->d_un.d_ptr;
			else if (d->d_tag == DT_INIT_ARRAYSZ)
				bytes = d->d_un.d_val;
		}
	}
	for (unsigned i = 0; i < MOST && i < bytes / sizeof(void *); i++)
		if (sets_limit(((const uint8_t *const *)array)[i]))
			*(bool *)is_split = true;
	return 1; /* the program is the first */
}

bool module_program_is_split(void)
{
	bool is_split = false;
	dl_iterate_phdr(look_for_limit, &is_split);
	return is_split;
}
