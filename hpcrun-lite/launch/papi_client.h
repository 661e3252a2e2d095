/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the PAPI module, in a child process, what it can do. Not for the measured process. Test: tests/cli/launch_papi.sh. */
#ifndef HPCRUN_LITE_LAUNCH_PAPI_CLIENT_H
#define HPCRUN_LITE_LAUNCH_PAPI_CLIENT_H

#include "hpcrun-lite/config/config.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * `library_directory` is where the modules lie. True when all events of kind CONFIG_PAPI in `c` can be had together; their
 * units are set. Else `why` tells why not, and *refused which in `c` cannot be had; c->n_events: none of them, for PAPI itself cannot.
 */
bool papi_client_check(const char *library_directory, struct config *c, uint32_t *refused, char *why, size_t why_bytes);

/* Prints PAPI's part of the list of events to standard output. */
void papi_client_list(const char *library_directory);

#endif
