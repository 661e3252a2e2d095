/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads RAPL, the host's meters of energy, which Linux shows below /sys/class/powercap (under the
 * same names for AMD's processors). There is a meter for each package, and on some machines one for
 * the memory. Since Linux 5.10 only root may read them (CVE-2020-8694). Not thread-safe. Test:
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
	uint64_t range_uj; /* the meter wraps around to 0 after this; 0: unknown */
	uint64_t last_uj;  /* last value read */
	uint64_t turns_uj; /* sum of range_uj for all times it wrapped around */
};

struct nv_rapl {
	struct nv_rapl_meter meter[NV_RAPL_METERS];
	unsigned n;
	bool is_denied; /* this user may not read some meter */
};

/* Finds the meters that can be read, in a directory that ends in '/'. */
void nv_rapl_open(struct nv_rapl *r, const char *directory);
/* Reads a meter; the result never decreases. Returns false on failure. */
bool nv_rapl_read(struct nv_rapl_meter *m, uint64_t *energy_uj);

#endif
