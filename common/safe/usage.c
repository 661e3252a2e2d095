/* SPDX-License-Identifier: BSD-3-Clause */
/* See usage.h. Test: tests/unit/common/test_usage.c. */
#include "common/safe/usage.h"

#include "common/safe/sys.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

enum { TEXT = 512 };

/* The number behind "name: " at the start of a line; 0: there is none. */
static uint64_t number_of(const char *text, const char *name)
{
	const size_t n = strlen(name);
	uint64_t value = 0;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) != 0)
			continue;
		for (line += n; *line >= '0' && *line <= '9'; line++)
			value = value * 10 + (uint64_t)(*line - '0');
		break;
	}
	return value;
}

static void read_io(struct usage *u)
{
	char text[TEXT];
	const int fd = sys_open("/proc/self/io", O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	const long n = sys_read(fd, text, sizeof text - 1);
	sys_close(fd);
	text[n > 0 ? n : 0] = 0;
	u->read_bytes = number_of(text, "rchar: ");
	u->written_bytes = number_of(text, "wchar: ");
	u->reads = number_of(text, "syscr: ");
	u->writes = number_of(text, "syscw: ");
}

void usage_read(struct usage *u)
{
	struct rusage r;
	memset(u, 0, sizeof *u);
	if (sys_call3(SYS_getrusage, RUSAGE_SELF, (long)&r, 0) == 0) {
		u->system_ns = (uint64_t)r.ru_stime.tv_sec * 1000000000u +
			       (uint64_t)r.ru_stime.tv_usec * 1000u;
		u->page_faults = (uint64_t)r.ru_minflt;
	}
	read_io(u);
}

void usage_since(const struct usage *start, struct usage *u)
{
	struct usage now;
	usage_read(&now);
	memset(u, 0, sizeof *u);
	if (now.system_ns < start->system_ns || now.page_faults < start->page_faults ||
	    now.reads < start->reads || now.writes < start->writes ||
	    now.read_bytes < start->read_bytes || now.written_bytes < start->written_bytes)
		return;
	u->system_ns = now.system_ns - start->system_ns;
	u->page_faults = now.page_faults - start->page_faults;
	u->reads = now.reads - start->reads;
	u->writes = now.writes - start->writes;
	u->read_bytes = now.read_bytes - start->read_bytes;
	u->written_bytes = now.written_bytes - start->written_bytes;
}
