/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the PAPI module, in a child process, what it can do. Not for the measured process. Test:
 * tests/cli/launch/launch_papi.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_PAPI_CLIENT_H
#define HPCRUN_LITE_LAUNCH_PAPI_CLIENT_H

#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * `library_directory` contains the modules. Returns true and sets the units if all CONFIG_PAPI
 * events in `c` can be measured together. Else `why` is the cause and *refused the index of the
 * event in `c`; c->n_events means all of them, because PAPI itself does not work.
 */
bool papi_client_check(const char *library_directory, struct config *c, uint32_t *refused,
		       char *why, size_t why_bytes);

/*
 * What PAPI can do here, in lines: "PAPI 7.2", then "NAME\tmeaning" for each event that can be
 * sampled, "-cause" if there is none. The caller frees it. NULL: no memory.
 */
char *papi_client_ask(const char *library_directory);

#endif
