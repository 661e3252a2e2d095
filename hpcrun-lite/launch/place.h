/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the run-time library lies: seen from this program, so that an installation can be moved. Test: tests/cli/launch_place.sh. */
#ifndef HPCRUN_LITE_LAUNCH_PLACE_H
#define HPCRUN_LITE_LAUNCH_PLACE_H

#include "common/base/status.h"

#include <stddef.h>

/*
 * The absolute path of the library to preload, and the directory of the loadable modules. STATUS_NOT_FOUND, logged: it is not there, or its path
 * holds a character (blank, colon, '$') that LD_PRELOAD cannot carry.
 */
enum status place_find(char *library, size_t library_bytes, char *directory, size_t directory_bytes);

#endif
