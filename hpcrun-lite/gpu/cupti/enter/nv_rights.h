/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether this process may sample GPUs and read their counters, from files of /proc. Not for the
 * measured process. Source: NVIDIA's page on ERR_NVGPUCTRPERM. Test:
 * tests/unit/cupti/test_rights.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_ENTER_NV_RIGHTS_H
#define HPCRUN_LITE_GPU_CUPTI_ENTER_NV_RIGHTS_H

#include <stddef.h>

enum nv_profiling {
	NV_PROFILING_ALLOWED,          /* or not known: the driver shows no parameters */
	NV_PROFILING_WANTS_CAPABILITY, /* root of a container without CAP_SYS_ADMIN */
	NV_PROFILING_WANTS_OPTION      /* an ordinary user */
};

/* Contents of files; "" if they are not there. */
struct nv_rights {
	char params[8192];  /* /proc/driver/nvidia/params */
	char version[1024]; /* /proc/driver/nvidia/version */
	char status[8192];  /* /proc/self/status */
	char uid_map[256];  /* /proc/self/uid_map */
};

void nv_rights_read(struct nv_rights *r);
enum nv_profiling nv_rights_profiling(const struct nv_rights *r);
/* The driver's version, as "580.95.05"; "" if it is not known. */
void nv_rights_driver(const struct nv_rights *r, char *to, size_t bytes);

#endif
