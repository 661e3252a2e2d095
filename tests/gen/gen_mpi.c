/* SPDX-License-Identifier: BSD-3-Clause */
/* See gen_mpi.h. */
#include "tests/gen/gen_mpi.h"

#include "tests/gen/gen_extent.h"

#include <stdio.h>
#include <stdlib.h>

static void must(bool good, const char *path)
{
	if (good)
		return;
	perror(path);
	exit(99);
}

void gen_mpi_add(const char *path, enum msr_kind kind, uint32_t thread, const void *records,
		 size_t n)
{
	const size_t bytes = kind == MSR_MPI_COMM   ? sizeof(struct msr_mpi_comm)
			     : kind == MSR_MPI_CALL ? sizeof(struct msr_mpi_call)
			     : kind == MSR_MPI_OPEN ? sizeof(struct msr_mpi_open)
						    : sizeof(struct msr_mpi_collective);
	gen_add_extent(path,
		       &(struct gen_extent){.kind = kind,
					    .record_bytes = (uint16_t)bytes,
					    .thread = thread},
		       records, n * bytes);
}

void gen_add_extent(const char *path, const struct gen_extent *s, const void *content, size_t n)
{
	static const char zeros[MSR_EXTENT_ALIGN];
	FILE *f = fopen(path, "r+");
	must(f && fseek(f, 0, SEEK_END) == 0, path);
	uint64_t end = (uint64_t)ftell(f), rest = (0 - end) % MSR_EXTENT_ALIGN;
	struct msr_extent e = {.magic = MSR_EXTENT_MAGIC,
			       .kind = (uint16_t)s->kind,
			       .record_bytes = s->record_bytes,
			       .thread = s->thread,
			       .used = n};
	uint64_t tail = (0 - n) % MSR_EXTENT_ALIGN;
	e.length = sizeof e + n + tail;
	e.check = msr_extent_check(&e);
	uint64_t allocated = end + rest + e.length;
	must(fwrite(zeros, 1, rest, f) == rest && fwrite(&e, sizeof e, 1, f) == 1 &&
		     (!n || fwrite(content, 1, n, f) == n) && fwrite(zeros, 1, tail, f) == tail &&
		     fseek(f, offsetof(struct msr_header, allocated), SEEK_SET) == 0 &&
		     fwrite(&allocated, sizeof allocated, 1, f) == 1 && fclose(f) == 0,
	     path);
}
