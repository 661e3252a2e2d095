/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds separate debug files by build id or by .gnu_debuglink, and dwz's shared part. Searches like
 * GDB ("Debugging Information in Separate Files"). Never uses a file that does not belong to the
 * image. Test: tests/cli/struct/struct_files.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include "common/base/log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static void build_id_text(const uint8_t *id, size_t n_bytes, char text[2 * IMAGE_BUILD_ID_MAX + 1])
{
	for (size_t i = 0; i < n_bytes && i < IMAGE_BUILD_ID_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
}

static bool same_build_id(const struct image *image, const uint8_t *id, size_t n_bytes)
{
	return image->build_id_bytes == n_bytes && n_bytes > 0 &&
	       memcmp(image->build_id, id, n_bytes) == 0;
}

/* Opens a candidate that exists. */
static struct image *try_open(const char *path)
{
	struct image *found = NULL;
	if (access(path, R_OK) == 0 && image_open(path, &found) != STATUS_OK)
		return NULL;
	return found;
}

/* Opens a candidate whose path names its build id. */
static struct image *try_named(const char *path, const uint8_t *id, size_t n_bytes)
{
	struct image *found = try_open(path);
	if (found && !same_build_id(found, id, n_bytes)) {
		log_warn(path, "its build id is not the one in its name; not used");
		image_close(found);
		found = NULL;
	}
	return found;
}

static struct image *try_build_id(const char *dir, const uint8_t *id, size_t n_bytes)
{
	char text[2 * IMAGE_BUILD_ID_MAX + 1] = "", path[PATH_MAX];
	build_id_text(id, n_bytes, text);
	int n = snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", dir, text, text + 2);
	if (n < 0 || (size_t)n >= sizeof path || n_bytes < 2)
		return NULL;
	return try_named(path, id, n_bytes);
}

/*
 * Looks where debuginfod-find, GDB and perf keep what they fetched (debuginfod-find(1)). Fetches
 * nothing itself: a report never waits for a network.
 */
static struct image *try_fetched(const uint8_t *id, size_t n_bytes)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *caches = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	char text[2 * IMAGE_BUILD_ID_MAX + 1] = "", path[PATH_MAX];
	int n = -1;
	build_id_text(id, n_bytes, text);
	if (own && *own)
		n = snprintf(path, sizeof path, "%s/%s/debuginfo", own, text);
	else if (caches && *caches)
		n = snprintf(path, sizeof path, "%s/debuginfod_client/%s/debuginfo", caches, text);
	else if (home && *home)
		n = snprintf(path, sizeof path, "%s/.cache/debuginfod_client/%s/debuginfo", home,
			     text);
	/* an empty file says that no server has it */
	struct stat st;
	if (n <= 0 || (size_t)n >= sizeof path || stat(path, &st) || !st.st_size)
		return NULL;
	return try_named(path, id, n_bytes);
}

/*
 * Returns true if a debug file describes the same addresses. Its code sections keep their headers.
 */
static bool same_code(const struct image *image, const struct image *debug)
{
	if (debug->code.n != image->code.n)
		return debug->code.n == 0;
	for (size_t i = 0; i < image->code.n; i++)
		if (image->code.at[i].start != debug->code.at[i].start ||
		    image->code.at[i].n_bytes != debug->code.at[i].n_bytes)
			return false;
	return true;
}

static struct image *try_link(const struct image *image, const char *path, uint32_t crc)
{
	char real_self[PATH_MAX], real_path[PATH_MAX];
	if (realpath(path, real_path) && realpath(image->path, real_self) &&
	    strcmp(real_path, real_self) == 0)
		return NULL; /* the link may name the file itself */
	struct image *found = try_open(path);
	if (!found)
		return NULL;
	bool belongs = image->build_id_bytes > 0 && found->build_id_bytes > 0
			       ? same_build_id(found, image->build_id, image->build_id_bytes)
			       : crc32_z(0, found->file.bytes, found->file.n_bytes) == crc;
	if (!belongs) {
		log_warn(path, "does not belong to %s (other build id or check sum); not used",
			 image->path);
		image_close(found);
		return NULL;
	}
	return found;
}

/* Returns the directory of the image, with links resolved; "." if that fails. */
static void directory_of(const struct image *image, char dir[PATH_MAX])
{
	if (!realpath(image->path, dir))
		snprintf(dir, PATH_MAX, "./x");
	char *slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
}

static struct image *find_by_link(const struct image *image, const char *const *dirs)
{
	const struct image_section *s = image_find(image, ".gnu_debuglink");
	size_t name_bytes = s ? strnlen((const char *)s->bytes, s->n_bytes) : 0;
	size_t crc_at = (name_bytes + 4) & ~(size_t)3;
	if (!s || name_bytes == 0 || crc_at + 4 > s->n_bytes)
		return NULL;
	const char *name = (const char *)s->bytes;
	uint32_t crc;
	memcpy(&crc, s->bytes + crc_at, sizeof crc);
	char here[PATH_MAX], path[2 * PATH_MAX];
	directory_of(image, here);
	snprintf(path, sizeof path, "%s/%s", here, name);
	struct image *found = try_link(image, path, crc);
	if (!found) {
		snprintf(path, sizeof path, "%s/.debug/%s", here, name);
		found = try_link(image, path, crc);
	}
	for (; *dirs && !found; dirs++) {
		snprintf(path, sizeof path, "%s%s/%s", *dirs, here, name);
		found = try_link(image, path, crc);
	}
	return found;
}

void image_find_debug(const struct image *image, const char *const *dirs, struct image **found)
{
	*found = NULL;
	for (const char *const *d = dirs; *d && !*found && image->build_id_bytes > 0; d++)
		*found = try_build_id(*d, image->build_id, image->build_id_bytes);
	if (!*found)
		*found = find_by_link(image, dirs);
	if (!*found && image->build_id_bytes > 0)
		*found = try_fetched(image->build_id, image->build_id_bytes);
	if (*found && !same_code(image, *found)) {
		log_warn((*found)->path, "its code sections are not those of %s; not used",
			 image->path);
		image_close(*found);
		*found = NULL;
	}
}

void image_find_alternate(const struct image *image, const char *const *dirs, struct image **found,
			  bool *missing)
{
	*found = NULL;
	*missing = false;
	const struct image_section *s = image_find(image, ".gnu_debugaltlink");
	size_t name_bytes = s ? strnlen((const char *)s->bytes, s->n_bytes) : 0;
	if (!s || name_bytes + 1 >= s->n_bytes)
		return;
	const char *name = (const char *)s->bytes;
	const uint8_t *id = s->bytes + name_bytes + 1;
	size_t id_bytes = s->n_bytes - name_bytes - 1;
	char here[PATH_MAX], path[2 * PATH_MAX];
	directory_of(image, here);
	snprintf(path, sizeof path, "%s%s%s", name[0] == '/' ? "" : here, name[0] == '/' ? "" : "/",
		 name);
	*found = try_open(path);
	const char *below = strstr(name, "/.dwz/"); /* as distributions lay it out */
	for (const char *const *d = dirs; *d && !*found && below; d++) {
		snprintf(path, sizeof path, "%s%s", *d, below);
		*found = try_open(path);
	}
	if (*found && !same_build_id(*found, id, id_bytes)) {
		log_warn((*found)->path,
			 "is not the shared debug file %s was split from (other build id)",
			 image->path);
		image_close(*found);
		*found = NULL;
	}
	for (const char *const *d = dirs; *d && !*found; d++)
		*found = try_build_id(*d, id, id_bytes);
	*missing = *found == NULL;
	if (*missing)
		log_warn(image->path,
			 "its shared debug file %s is not there; names that are in it are lost",
			 name);
}
