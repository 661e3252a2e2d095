/* SPDX-License-Identifier: BSD-3-Clause */
/* See perf_rights.h. Test: tests/unit/run/test_launch.c. */
#include "hpcrun-lite/launch/perf_rights.h"

#include "common/safe/sys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define LAST_CAPABILITY "/proc/sys/kernel/cap_last_cap"
#define CAPABILITY_PERFMON 38 /* since Linux 5.8; before, CAP_SYS_ADMIN includes it */

/* ---- the machine ---- */

int perf_rights_field(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ':')
			return atoi(line + n + 1);
	}
	return -1;
}

static int read_number(const char *path, int missing)
{
	int value = missing;
	FILE *f = fopen(path, "re");
	if (f && fscanf(f, "%d", &value) != 1)
		value = missing;
	if (f)
		fclose(f);
	return value;
}

static bool is_filtered(void)
{
	char text[4096];
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
	if (f)
		fclose(f);
	text[n] = 0;
	return perf_rights_field(text, "Seccomp") > 0;
}

static bool has_units(void)
{
	static const char *const units[] = {"cpu", "cpu_core", "cpu_atom"};
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		char path[96];
		snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s", units[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static enum perf_container find_container(void)
{
	if (getenv("KUBERNETES_SERVICE_HOST"))
		return PERF_KUBERNETES;
	if (access("/run/.containerenv", F_OK) == 0)
		return PERF_PODMAN;
	return access("/.dockerenv", F_OK) == 0 ? PERF_DOCKER : PERF_NO_CONTAINER;
}

void perf_machine_read(struct perf_machine *m)
{
	*m = (struct perf_machine){
		.paranoid = read_number(PARANOID, PERF_RIGHTS_NONE),
		.last_capability = read_number(LAST_CAPABILITY, 0),
		.is_filtered = is_filtered(),
		.has_units = has_units(),
		.is_virtual = machine_is_virtual(),
		.container = find_container(),
	};
}

/* ---- words ---- */

/*
 * The filters of Docker 23 and later and of containerd allow perf_event_open with CAP_PERFMON
 * (moby/moby 43987), that of Podman until the end of 2025 only with CAP_SYS_ADMIN too
 * (containers/common 2534).
 */
static const char *container_cure(const struct perf_machine *m)
{
	if (m->last_capability < CAPABILITY_PERFMON)
		return "start the container with --cap-add SYS_ADMIN";
	switch (m->container) {
	case PERF_PODMAN: return "start the container with --cap-add PERFMON --cap-add SYS_ADMIN";
	case PERF_KUBERNETES:
		return "in the pod: securityContext: {capabilities: {add: [PERFMON]}}";
	case PERF_DOCKER:
		return "start the container with --cap-add PERFMON (SYS_ADMIN before Docker 23)";
	default: return "allow the system call perf_event_open in the filter";
	}
}

void perf_refused(const struct perf_machine *m, int error, int level, struct perf_refusal *r)
{
	bool is_missing = error == ENOSYS || m->paranoid == PERF_RIGHTS_NONE;
	r->cure[0] = 0;
	if (!is_missing && m->paranoid > level) {
		snprintf(r->why, sizeof r->why, "kernel.perf_event_paranoid is %d (needed: %d)",
			 m->paranoid, level);
		if (m->container != PERF_NO_CONTAINER && m->is_filtered)
			snprintf(r->cure, sizeof r->cure, "%s", container_cure(m));
		else
			snprintf(r->cure, sizeof r->cure,
				 "as root%s: sysctl kernel.perf_event_paranoid=%d",
				 m->container == PERF_NO_CONTAINER ? "" : " of the host", level);
	} else if (m->is_filtered) {
		snprintf(r->why, sizeof r->why, "a seccomp filter refuses perf_event_open");
		snprintf(r->cure, sizeof r->cure, "%s", container_cure(m));
	} else if (is_missing) {
		snprintf(r->why, sizeof r->why, "this kernel has no perf events");
	} else {
		snprintf(r->why, sizeof r->why, "a security module refuses perf_event_open");
		snprintf(r->cure, sizeof r->cure, "if it is SELinux: ausearch -m avc -ts recent");
	}
}

void perf_no_counter(const struct perf_machine *m, struct perf_refusal *r)
{
	const char *why = m->has_units    ? "no counter of this processor can interrupt for it"
			  : m->is_virtual ? "this virtual machine has no hardware counters"
					  : "the kernel finds no hardware counters";
	const char *cure = m->has_units || !m->is_virtual
				   ? ""
				   : "run on the host, or give it a virtual PMU (KVM: -cpu host; "
				     "VMware: vPMC)";
	snprintf(r->why, sizeof r->why, "%s", why);
	snprintf(r->cure, sizeof r->cure, "%s", cure);
}
