/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU quota of a process. Finds how much CPU time its cgroup and the cgroups around it allow
 * (cpu.max, or cpu.cfs_quota_us of version 1), and how long they were throttled. Reads a few small
 * files with system calls. No allocation; signal-safe. Test: tests/unit/common/test_cgroup.c.
 */
#ifndef COMMON_SAFE_CGROUP_H
#define COMMON_SAFE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup {
	uint64_t quota_ns; /* CPU time in each second, by the tightest quota; 0: none is known */
	uint64_t id;       /* of the cgroup with that quota, on this host; not 0 */
	bool is_v1;
	size_t n_mount;    /* bytes of `path` that are the mount, which is the outermost cgroup */
	char path[1024];   /* of the process's own cgroup, as seen from here */
};

/*
 * Fills *c. `root` is put before all paths: "", or a directory in a test. If nothing is known, all
 * members are 0. Keeps errno.
 */
void cgroup_find(const char *root, struct cgroup *c);

/*
 * How long these cgroups have been throttled since they were created, in ns. This is a sum over the
 * processors on which a thread was ready. 0 without a quota.
 */
uint64_t cgroup_throttled_ns(const struct cgroup *c);

#endif
