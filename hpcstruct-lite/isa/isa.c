/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of machines; see isa.h. Test: tests/unit/struct/test_isa.c. */
#include "hpcstruct-lite/isa/isa.h"

#include <elf.h>

static const struct {
	uint16_t machine;
	unsigned first, last; /* architectures */
	const struct isa *isa;
} machines[] = {
	{EM_X86_64, 0, 0, &isa_x86},
	{EM_AARCH64, 0, 0, &isa_aarch64},
	{EM_CUDA, 70, 89, &isa_sass_70},
	{EM_CUDA, 90, 255, &isa_sass_90},
};

const struct isa *isa_find(uint16_t machine, unsigned architecture)
{
	for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == machine && architecture >= machines[i].first &&
		    architecture <= machines[i].last && machines[i].isa->decode)
			return machines[i].isa;
	return NULL;
}
