/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the run-time library: in the build tree (.libs, where libtool puts libraries and sometimes
 * this program), or else by the relative path from configure's --bindir to its --libdir, so that an
 * installation can be moved. Test: tests/cli/launch/launch_place.sh.
 */
#include "hpcrun-lite/launch/place.h"

#include "common/base/log.h"
#include "hpcrun-lite/config/config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Makes "../lib/hpctoolkit-lite" from "/usr/bin" and "/usr/lib/hpctoolkit-lite". */
static void relative(const char *from, const char *to, char *out, size_t bytes)
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

static bool try_directory(const char *base, const char *way, char *library, size_t bytes)
{
	char path[2 * PATH_MAX], real[PATH_MAX];
	int n = snprintf(path, sizeof path, "%s/%s/%s", base, way, CONFIG_LIBRARY);
	if (n < 0 || (size_t)n >= sizeof path || !realpath(path, real) || strlen(real) >= bytes)
		return false;
	snprintf(library, bytes, "%s", real);
	return true;
}

enum status place_find(char *library, size_t library_bytes, char *directory, size_t directory_bytes)
{
	char self[PATH_MAX], way[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0) {
		log_error("/proc/self/exe", "%s", strerror(errno));
		return STATUS_NOT_FOUND;
	}
	self[n] = 0;
	*strrchr(self, '/') = 0;
	relative(BINDIR, PKGLIBDIR, way, sizeof way);
	const char *const ways[] = {".libs", ".", "../.libs", way};
	bool found = false;
	for (size_t i = 0; i < sizeof ways / sizeof ways[0] && !found; i++)
		found = try_directory(self, ways[i], library, library_bytes);
	if (!found) {
		log_error(self, "the run-time library is not in %s; is the installation complete?",
			  way);
		return STATUS_NOT_FOUND;
	}
	if (library[strcspn(library, " \t\n:;$")]) {
		log_error(library, "the path contains a blank, a colon or a dollar sign, which "
				   "LD_PRELOAD does not allow; install in another directory");
		return STATUS_NOT_FOUND;
	}
	int length = (int)(strrchr(library, '/') - library);
	snprintf(directory, directory_bytes, "%.*s", length, library);
	return STATUS_OK;
}
