/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hpcrun-lite --attach, --attach-job and --detach: makes the measurement directory and becomes
 * hpcrun-lite-attach, or starts one for each rank. Tests: tests/cli/attach.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_CLIENT_H
#define HPCRUN_LITE_LAUNCH_ATTACH_CLIENT_H

#include "hpcrun-lite/config/config.h"

#include <stdint.h>
#include <sys/types.h>

struct attach_request {
	struct config *config;         /* with events and library */
	const char *library_directory; /* where hpcrun-lite-attach is */
	const char *directory;         /* -o; NULL: the default */
	pid_t pid;                     /* --attach */
	const char *job;               /* --attach-job; NULL: the process alone */
	uint32_t seconds;              /* 0: until somebody ends it */
};

/* Why a process that runs cannot be measured so, for the user; NULL: it can. */
const char *attach_client_why_not(const struct config *c);
/* Each returns the exit status, or does not return, and logs errors. */
int attach_client_attach(const struct attach_request *a);
int attach_client_detach(const char *library_directory, pid_t pid, const struct config *c);

#endif
