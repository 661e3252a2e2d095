/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's meters of energy, RAPL, as Linux shows them below /sys/class/powercap (of AMD's
 * processors under the same names): the packages, and the memory where it has a meter of its own.
 * Since Linux 5.10 only root may read them (CVE-2020-8694). Not thread-safe. Test:
 * tests/unit/cupti/test_energy.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_RAPL_H
#define HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_RAPL_H

#include <stdbool.h>
#include <stdint.h>

#define NV_RAPL_DIRECTORY "/sys/class/powercap/"
#define NV_RAPL_METERS 16u

struct nv_rapl_meter {
	char name[32]; /* "RAPL package-0", "RAPL dram-0" */
	char path[96];
	uint64_t range_uj; /* the meter starts again from 0 after this; 0: unknown */
	uint64_t last_uj;  /* as read */
	uint64_t turns_uj; /* added up when it started again */
};

struct nv_rapl {
	struct nv_rapl_meter meter[NV_RAPL_METERS];
	unsigned n;
	bool is_denied; /* there is a meter that this user may not read */
};

/* Finds the meters that can be read, in a directory that ends in '/'. */
void nv_rapl_open(struct nv_rapl *r, const char *directory);
/* Reads a meter; the result never decreases. Returns false on failure. */
bool nv_rapl_read(struct nv_rapl_meter *m, uint64_t *energy_uj);

#endif
