/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the run-time library relative to this program, so that an installation can be moved. Test:
 * tests/cli/launch/launch_place.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_PLACE_H
#define HPCRUN_LITE_LAUNCH_PLACE_H

#include "common/base/status.h"

#include <stddef.h>

/*
 * Gets the absolute path of the library to preload, and the directory of the loadable modules.
 * STATUS_NOT_FOUND (logged): it does not exist, or its path contains a character (blank, colon,
 * '$') that LD_PRELOAD does not allow.
 */
enum status place_find(char *library, size_t library_bytes, char *directory,
		       size_t directory_bytes);

#endif
