/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI's library and event sets; see papi_set.h. All components except the CPU's are disabled
 * before the start: they cannot sample, and some print, start threads or open devices. Test:
 * tests/cli/launch/launch_papi.sh.
 */
#include "hpcrun-lite/source/papi_set.h"

#include "common/safe/sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int component = -1;

int papi_set_component(void)
{
	return component;
}

int papi_set_signal(void)
{
	const PAPI_component_info_t *info = PAPI_get_component_info(component);
	return info ? info->hardware_intr_sig : 0;
}

static void choose_component(void)
{
	for (int i = 0; i < PAPI_num_components(); i++) {
		const PAPI_component_info_t *info = PAPI_get_component_info(i);
		if (info && !strcmp(info->name, PAPI_SET_COMPONENT))
			component = i;
		else
			(void)PAPI_disable_component(i);
	}
}

/* Starts PAPI with standard error on /dev/null, because its messages are not the program's. */
static int start_silently(void)
{
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (kept >= 0 && nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	int version = PAPI_library_init(PAPI_VER_CURRENT);
	if (kept >= 0 && nowhere >= 0)
		dup2(kept, STDERR_FILENO);
	if (kept >= 0)
		close(kept);
	if (nowhere >= 0)
		close(nowhere);
	return version;
}

static bool explain(const char *subject, const char *what, int error, char *cause,
		    size_t cause_bytes)
{
	snprintf(cause, cause_bytes, "%s: %s: %s", subject, what, PAPI_strerror(error));
	return false;
}

bool papi_set_start_library(char *cause, size_t cause_bytes)
{
	if (component < 0)
		choose_component();
	if (component < 0) {
		snprintf(cause, cause_bytes, "this PAPI has no component %s", PAPI_SET_COMPONENT);
		return false;
	}
	int version = start_silently();
	if (version != PAPI_VER_CURRENT) {
		snprintf(cause, cause_bytes,
			 version > 0 ? "PAPI is of another version than the one hpctoolkit-lite "
				       "was built with"
				     : "PAPI cannot start");
		return false;
	}
	const PAPI_component_info_t *info = PAPI_get_component_info(component);
	if (info && info->disabled) {
		snprintf(cause, cause_bytes, "PAPI cannot use the counters of this machine: %s",
			 info->disabled_reason);
		return false;
	}
	int error = PAPI_thread_init(pthread_self);
	return error == PAPI_OK || explain("PAPI", "threads", error, cause, cause_bytes);
}

bool papi_set_find(struct papi_set_event *events, unsigned n_events, char *cause,
		   size_t cause_bytes)
{
	for (unsigned i = 0; i < n_events; i++) {
		PAPI_event_info_t info;
		int error = PAPI_event_name_to_code(events[i].name, &events[i].code);
		if (error != PAPI_OK)
			return explain(events[i].name, "this machine has no event with this name",
				       error, cause, cause_bytes);
		if (PAPI_get_event_info(events[i].code, &info) == PAPI_OK &&
		    IS_PRESET(events[i].code) && info.count > 1) {
			snprintf(cause, cause_bytes,
				 "%s is derived from %u hardware events and cannot be sampled; "
				 "sample those: %s, %s",
				 events[i].name, info.count, info.name[0], info.name[1]);
			return false;
		}
		if (events[i].period > INT_MAX) {
			snprintf(cause, cause_bytes,
				 "%s: the longest period that PAPI allows is %d", events[i].name,
				 INT_MAX);
			return false;
		}
	}
	return true;
}

static bool fill(int set, const struct papi_set_event *events, unsigned n_events,
		 PAPI_overflow_handler_t handler, char *cause, size_t cause_bytes)
{
	int error = PAPI_assign_eventset_component(set, component);
	if (error != PAPI_OK)
		return explain("PAPI", "event set", error, cause, cause_bytes);
	for (unsigned i = 0; i < n_events; i++) {
		error = PAPI_add_event(set, events[i].code);
		if (error != PAPI_OK)
			return explain(events[i].name,
				       i ? "cannot be counted together with the events before it"
					 : "cannot be counted",
				       error, cause, cause_bytes);
	}
	for (unsigned i = 0; i < n_events; i++) {
		error = PAPI_overflow(set, events[i].code, (int)events[i].period, 0, handler);
		if (error != PAPI_OK)
			return explain(events[i].name, "cannot be sampled", error, cause,
				       cause_bytes);
	}
	error = PAPI_start(set);
	return error == PAPI_OK ||
	       explain(events[0].name, "cannot be started", error, cause, cause_bytes);
}

bool papi_set_start(const struct papi_set_event *events, unsigned n_events,
		    PAPI_overflow_handler_t handler, int *set, char *cause, size_t cause_bytes)
{
	int made = PAPI_NULL;
	int error = PAPI_create_eventset(&made);
	if (error != PAPI_OK)
		return explain("PAPI", "event set", error, cause, cause_bytes);
	if (fill(made, events, n_events, handler, cause, cause_bytes)) {
		*set = made;
		return true;
	}
	(void)PAPI_cleanup_eventset(made);
	(void)PAPI_destroy_eventset(&made);
	return false;
}

void papi_set_stop(int set, unsigned n_events, const struct papi_set_event *events)
{
	long long counts[64];
	if (PAPI_stop(set, counts) != PAPI_OK)
		return;
	for (unsigned i = 0; i < n_events; i++)
		(void)PAPI_overflow(set, events[i].code, 0, 0, NULL);
	(void)PAPI_cleanup_eventset(set);
	(void)PAPI_destroy_eventset(&set);
}

/* Returns true for an event whose overflows signal this thread. */
static bool is_ours(int fd)
{
	char path[32], target[32];
	struct f_owner_ex owner;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	ssize_t n = readlink(path, target, sizeof target);
	return n > 0 && !strncmp(target, "anon_inode:[perf_event]", (size_t)n) &&
	       fcntl(fd, F_GETOWN_EX, &owner) == 0 && owner.type == F_OWNER_TID &&
	       owner.pid == sys_gettid();
}

/* Returns -1 if it is no number. Does not use atoi: newer C libraries turn it into a version of
 * strtol that older ones lack. */
static int descriptor_of(const char *name)
{
	int fd = *name ? 0 : -1;
	for (; *name && fd >= 0; name++)
		fd = *name >= '0' && *name <= '9' && fd < 1 << 24 ? fd * 10 + (*name - '0') : -1;
	return fd;
}

unsigned papi_set_descriptors(int *fds, unsigned n_most)
{
	DIR *all = opendir("/proc/self/fd");
	unsigned n = 0;
	for (struct dirent *e; all && n < n_most && (e = readdir(all));) {
		const int fd = descriptor_of(e->d_name);
		if (fd >= 0 && fd != dirfd(all) && is_ours(fd))
			fds[n++] = fd;
	}
	if (all)
		closedir(all);
	return n;
}

void papi_set_rest(const int *fds, unsigned n, bool rests)
{
	for (unsigned i = 0; i < n; i++)
		sys_ioctl(fds[i], rests ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE, 0);
}

void papi_set_arm(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sys_ioctl(fds[i], PERF_EVENT_IOC_REFRESH, 1);
}
