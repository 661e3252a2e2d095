/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code objects of a recording: the files in gpubins, mapped when they are first needed. Test:
 * tests/cli/gpu/replay.sh.
 */
#include "common/base/log.h"
#include "common/base/vec.h"
#include "hpcrun-lite/replay/player.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

struct image {
	uint64_t hash[2];
	struct mapfile file; /* empty: the file is missing */
};

static VEC(struct image) images;

static struct image *add(const uint64_t hash[2])
{
	char path[PATH_MAX];
	struct image *i = vec_push(&images);
	if (!i)
		return NULL;
	i->hash[0] = hash[0];
	i->hash[1] = hash[1];
	snprintf(path, sizeof path, "%s/" MSR_GPU_CODE_DIRECTORY "/%016" PRIx64 "%016" PRIx64 "%s",
		 player.directory, hash[0], hash[1], msr_gpu_code_suffix(MSR_GPU_CODE_ELF));
	if (mapfile_open(path, &i->file) != STATUS_OK) {
		i->file = (struct mapfile){.bytes = NULL};
		log_warn(path, "the code object is not here: kernels of it will have no lines");
	}
	return i;
}

const void *image_find(const uint64_t hash[2], uint64_t n_bytes)
{
	struct image *i = NULL;
	for (size_t n = 0; n < images.n && !i; n++)
		if (images.at[n].hash[0] == hash[0] && images.at[n].hash[1] == hash[1])
			i = &images.at[n];
	if (!i)
		i = add(hash);
	return i && i->file.bytes && i->file.n_bytes == n_bytes ? i->file.bytes : NULL;
}
