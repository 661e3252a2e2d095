/* SPDX-License-Identifier: BSD-3-Clause */
/* See maps.h. Test: tests/cli/run/run_modules.sh. */
#include "hpcrun-lite/runtime/code/maps.h"

#include "common/safe/sys.h"

#include <fcntl.h>
#include <string.h>

/* Reads digits and the character after them. */
static uint64_t number(const char **p, unsigned base)
{
	uint64_t n = 0;
	for (;; ++*p) {
		const char c = **p;
		const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				       : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							      : 16;
		if (digit >= base)
			break;
		n = n * base + digit;
	}
	*p += **p != '\0';
	return n;
}

/* "start-end perms offset major:minor inode path" */
static struct maps_line parse(const char *text)
{
	struct maps_line l;
	const char *p = text;
	l.start = number(&p, 16);
	l.end = number(&p, 16);
	const size_t n = strcspn(p, " ");
	l.is_code = n > 2 && p[2] == 'x';
	p += n + (p[n] != '\0');
	l.offset = number(&p, 16);
	l.major = (uint32_t)number(&p, 16);
	l.minor = (uint32_t)number(&p, 16);
	l.inode = number(&p, 10);
	p += strspn(p, " ");
	l.path = *p == '/' ? p : "";
	return l;
}

void maps_each(struct maps_room *room, uint64_t most_bytes,
	       bool (*visit)(const struct maps_line *line, void *arg), void *arg)
{
	const int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	size_t n = 0;
	bool goes_on = fd >= 0;
	uint64_t done = 0;
	for (long got; goes_on && done < most_bytes &&
		       (got = sys_read(fd, room->buffer, sizeof room->buffer)) > 0;
	     done += (uint64_t)got)
		for (long i = 0; goes_on && i < got; i++) {
			if (room->buffer[i] != '\n') {
				room->line[n] = room->buffer[i];
				n += n + 1 < sizeof room->line;
				continue;
			}
			room->line[n] = '\0';
			if (n + 1 < sizeof room->line) {
				const struct maps_line l = parse(room->line);
				goes_on = visit(&l, arg);
			}
			n = 0;
		}
	if (fd >= 0)
		sys_close(fd);
}
