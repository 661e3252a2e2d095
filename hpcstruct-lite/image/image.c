/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens images; see image.h. Test: tests/cli/struct/struct_golden.sh,
 * tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include "common/base/log.h"
#include "hpcstruct-lite/image/image_elf.h"
#include "hpcstruct-lite/image/image_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Code sections closer than this are joined to one region, such as .plt, .text and .fini. */
#define REGION_GAP_BYTES (UINT64_C(1) << 20)

static const struct image_kind *const kinds[] = {&image_elf, &image_source};

static const struct image_kind *find_kind(const struct image *image)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (kinds[i]->recognises(image->path, image->file.bytes, image->file.n_bytes))
			return kinds[i];
	return NULL;
}

static int compare_regions(const void *a, const void *b)
{
	const struct image_region *x = a, *y = b;
	return x->start < y->start ? -1 : x->start > y->start;
}

/* Joins the code sections into regions and numbers the positions. */
static enum status make_regions(struct image *image)
{
	if (image->code.n > 1)
		qsort(image->code.at, image->code.n, sizeof *image->code.at, compare_regions);
	uint64_t total = 0;
	for (size_t i = 0; i < image->code.n; i++) {
		const struct image_region *c = &image->code.at[i];
		struct image_region *last =
			image->regions.n ? &image->regions.at[image->regions.n - 1] : NULL;
		uint64_t end = c->start + c->n_bytes;
		if (end < c->start)
			continue;
		if (last && c->start - last->start <= last->n_bytes + REGION_GAP_BYTES) {
			if (end > last->start + last->n_bytes) {
				total += end - (last->start + last->n_bytes);
				last->n_bytes = end - last->start;
			}
		} else {
			struct image_region *r = vec_push(&image->regions);
			if (!r)
				return STATUS_NO_MEMORY;
			*r = (struct image_region){c->start, c->n_bytes, (uint32_t)total};
			total += c->n_bytes;
		}
		if (total >= UINT32_MAX) {
			log_error(image->path, "more than 4 GiB of code");
			return STATUS_UNSUPPORTED;
		}
	}
	return STATUS_OK;
}

enum status image_open(const char *path, struct image **out)
{
	return image_take(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), path, out);
}

enum status image_take(int fd, const char *path, struct image **out)
{
	const int cause = errno;
	struct image *image = calloc(1, sizeof *image);
	char *copy = strdup(path);
	if (!image || !copy) {
		free(copy);
		free(image);
		log_error(path, "out of memory");
		if (fd >= 0)
			close(fd);
		return STATUS_NO_MEMORY;
	}
	image->path = copy;
	const bool is_there = fd >= 0 || (cause != ENOENT && cause != ENOTDIR);
	errno = cause;
	enum status status = is_there ? mapfile_take(fd, path, &image->file) : STATUS_NOT_FOUND;
	if (!is_there)
		log_error(path, "no such file");
	if (status == STATUS_OK) {
		image->kind = find_kind(image);
		if (!image->kind) {
			const char *form = NULL;
			image_is_foreign(path, image->file.bytes, image->file.n_bytes, &form);
			log_error(path, "not a binary this program knows%s%s", form ? ": " : "",
				  form ? form : "");
			status = STATUS_BAD_INPUT;
		} else {
			status = image->kind->load(image);
		}
	}
	if (status == STATUS_OK)
		status = make_regions(image);
	if (status == STATUS_NO_MEMORY)
		log_error(path, "out of memory");
	if (status != STATUS_OK) {
		image_close(image);
		return status;
	}
	*out = image;
	return STATUS_OK;
}

void image_close(struct image *image)
{
	if (!image)
		return;
	image_elf_free(image);
	for (size_t i = 0; i < image->unpacked.n; i++)
		free(image->unpacked.at[i]);
	vec_free(&image->unpacked);
	vec_free(&image->sections);
	vec_free(&image->regions);
	vec_free(&image->code);
	mapfile_close(&image->file);
	free((void *)(uintptr_t)image->path);
	free(image);
}

const struct image_section *image_find(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->sections.n; i++)
		if (image->sections.at[i].bytes && image->sections.at[i].packed == IMAGE_PLAIN &&
		    strcmp(image->sections.at[i].name, name) == 0)
			return &image->sections.at[i];
	return NULL;
}
