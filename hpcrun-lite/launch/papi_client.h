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

/* Prints PAPI's part of the list of events to standard output. */
void papi_client_list(const char *library_directory);

#endif
