/* SPDX-License-Identifier: BSD-3-Clause */
/* See place.h. Test: tests/cli/launch/launch_place.sh. */
#include "hpcrun-lite/launch/place.h"

#include "common/base/library_place.h"
#include "common/base/log.h"
#include "hpcrun-lite/config/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status place_find(char *library, size_t library_bytes, char *directory, size_t directory_bytes)
{
	char way[PATH_MAX];
	if (access("/proc/self/exe", R_OK) != 0) {
		log_error("/proc/self/exe",
			  "cannot be read (%s), so the run-time library cannot be found; mount "
			  "/proc",
			  strerror(errno));
		return STATUS_NOT_FOUND;
	}
	if (!library_place_find(CONFIG_LIBRARY, BINDIR, PKGLIBDIR, library, library_bytes)) {
		library_place_relative(BINDIR, PKGLIBDIR, way, sizeof way);
		log_error(NULL, "the run-time library is not in %s; is the installation complete?",
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
