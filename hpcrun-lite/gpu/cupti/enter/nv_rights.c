/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_rights.h. Test: tests/unit/cupti/test_rights.c. */
#include "hpcrun-lite/gpu/cupti/enter/nv_rights.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CAPABILITY_ADMIN 21
#define CAPABILITY_PERFMON 38
#define PERFMON_DRIVER 565 /* the first driver that CAP_PERFMON is enough for */

static void read_file(const char *path, char *to, size_t bytes)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : sys_read(fd, to, bytes - 1);
	if (fd >= 0)
		sys_close(fd);
	to[n < 0 ? 0 : n] = 0;
}

void nv_rights_read(struct nv_rights *r)
{
	read_file("/proc/driver/nvidia/params", r->params, sizeof r->params);
	read_file("/proc/driver/nvidia/version", r->version, sizeof r->version);
	read_file("/proc/self/status", r->status, sizeof r->status);
	read_file("/proc/self/uid_map", r->uid_map, sizeof r->uid_map);
}

/* The text after "NAME:" and blanks at the start of a line; "" if there is none. */
static const char *field(const char *text, const char *name)
{
	size_t n = strlen(name);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, " \t");
	}
	return "";
}

/* The number at the start of a text, in base 10 or 16; 0 if there is none. */
static uint64_t number(const char *text, unsigned base)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t n = 0;
	for (const char *d; *text && (d = memchr(digits, *text, base)); text++)
		n = n * base + (uint64_t)(d - digits);
	return n;
}

/* The driver asks for rights of the first user namespace, which has all users. */
static bool is_first_namespace(const char *uid_map)
{
	static const char *const all[] = {"0", "0", "4294967295"};
	for (size_t i = 0; i < 3; i++) {
		uid_map += strspn(uid_map, " ");
		size_t n = strcspn(uid_map, " \n");
		if (n != strlen(all[i]) || strncmp(uid_map, all[i], n) != 0)
			return false;
		uid_map += n;
	}
	return true;
}

void nv_rights_driver(const struct nv_rights *r, char *to, size_t bytes)
{
	/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release ..." */
	const char *at = field(r->version, "NVRM version");
	size_t n = strcspn(at, "\n");
	to[0] = 0;
	for (const char *end = at + n; at < end; at += n) {
		at += strspn(at, " ");
		n = strcspn(at, " \n");
		size_t digits = strspn(at, "0123456789");
		if (digits && at[digits] == '.') {
			struct text t = text_in(to, bytes);
			for (size_t i = 0; i < n; i++)
				text_put_char(&t, at[i]);
			return;
		}
	}
}

enum nv_profiling nv_rights_profiling(const struct nv_rights *r)
{
	char driver[64];
	nv_rights_driver(r, driver, sizeof driver);
	uint64_t held = number(field(r->status, "CapEff"), 16);
	bool has_right = held >> CAPABILITY_ADMIN & 1 ||
			 (held >> CAPABILITY_PERFMON & 1 && number(driver, 10) >= PERFMON_DRIVER);
	bool is_first = is_first_namespace(r->uid_map);
	if (number(field(r->params, "RmProfilingAdminOnly"), 10) == 0 || (has_right && is_first))
		return NV_PROFILING_ALLOWED;
	return is_first && number(field(r->status, "Uid"), 10) == 0 ? NV_PROFILING_WANTS_CAPABILITY
							      : NV_PROFILING_WANTS_OPTION;
}
