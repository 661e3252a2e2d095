/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds our libraries that a tool loads. They are found relative to the tool, so that an
 * installation can be moved. Tests: tests/cli/launch/launch_place.sh,
 * tests/cli/parts/parts_ranks.sh.
 */
#ifndef COMMON_BASE_LIBRARY_PLACE_H
#define COMMON_BASE_LIBRARY_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Makes "../lib/hpctoolkit-lite" from "/usr/bin" and "/usr/lib/hpctoolkit-lite". */
void library_place_relative(const char *from, const char *to, char *out, size_t bytes);

/*
 * Gets the absolute path of library `name`. Looks in the build tree (.libs, where libtool puts
 * libraries and sometimes this program), then follows the relative path from `bindir` to `libdir`,
 * the directories given to configure. Returns false if the library is in neither place.
 */
bool library_place_find(const char *name, const char *bindir, const char *libdir, char *path,
			size_t bytes);

#endif
