/* SPDX-License-Identifier: BSD-3-Clause */
/* DIRECTORY/NAME in the caller's buffer. Not for the measured process. */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_PATH_IN_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_PATH_IN_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns false, and sets errno, if the path does not fit. */
static inline bool path_in(char *out, size_t n_bytes, const char *directory, const char *name)
{
	const int n = snprintf(out, n_bytes, "%s/%s", directory, name);
	if (n >= 0 && (size_t)n < n_bytes)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

#endif
