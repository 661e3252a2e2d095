/* SPDX-License-Identifier: BSD-3-Clause */
/* See library_place.h. Test: tests/cli/launch/launch_place.sh. */
#include "common/base/library_place.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void library_place_relative(const char *from, const char *to, char *out, size_t bytes)
{
	size_t same = 0;
	for (size_t i = 0; from[i] == to[i] || (!from[i] && to[i] == '/'); i++) {
		if (from[i] == '/' || !from[i])
			same = i;
		if (!from[i] || !to[i])
			break;
	}
	out[0] = 0;
	size_t n = 0;
	for (const char *c = from + same; *c && n < bytes; c++)
		if (*c == '/' && c[1] && c[1] != '/')
			n += (size_t)snprintf(out + n, bytes - n, "../");
	if (n < bytes)
		snprintf(out + n, bytes - n, "%s", to[same] == '/' ? to + same + 1 : to + same);
}

static bool try_directory(const char *base, const char *way, const char *name, char *library,
			  size_t bytes)
{
	char path[2 * PATH_MAX], real[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s/%s", base, way, name);
	if (n < 0 || (size_t)n >= sizeof path || !realpath(path, real) || strlen(real) >= bytes)
		return false;
	snprintf(library, bytes, "%s", real);
	return true;
}

bool library_place_find(const char *name, const char *bindir, const char *libdir, char *path,
			size_t bytes)
{
	char self[PATH_MAX], way[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return false;
	self[n] = 0;
	*strrchr(self, '/') = 0;
	library_place_relative(bindir, libdir, way, sizeof way);
	const char *const ways[] = {".libs", ".", "../.libs", way};
	bool found = false;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !found; i++)
		found = try_directory(self, ways[i], name, path, bytes);
	return found;
}
