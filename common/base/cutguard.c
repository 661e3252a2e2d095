/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See cutguard.h. The handler finds the file in /proc/self/maps, so that nobody has to keep a list
 * of mappings. The handler must not allocate, lock or use stdio.
 */
#include "common/base/cutguard.h"

#include "common/base/log.h"
#include "common/safe/printable.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static void (*at_end)(void);
static atomic_flag is_taken = ATOMIC_FLAG_INIT; /* the first thread takes it; others wait */
static char line[PATH_MAX + 256];               /* belongs to the thread that took it */

/* Reads a line into `line`, without its newline, and cuts it to fit. False: there is none. */
static bool next_line(int fd, char *chunk, size_t room, size_t *at, size_t *n)
{
	size_t n_line = 0;
	for (;;) {
		if (*at == *n) {
			ssize_t got = read(fd, chunk, room);
			if (got <= 0)
				return false;
			*n = (size_t)got;
			*at = 0;
		}
		char c = chunk[(*at)++];
		if (c == '\n')
			break;
		if (n_line + 1 < sizeof line)
			line[n_line++] = c;
	}
	line[n_line] = '\0';
	return true;
}

static const char *hex(const char *s, uintptr_t *value)
{
	for (*value = 0;; s++) {
		const char *digits = "0123456789abcdef", *digit = *s ? strchr(digits, *s) : NULL;
		if (!digit)
			return s;
		*value = *value << 4 | (uintptr_t)(digit - digits);
	}
}

/* Returns the path of the file mapped at `address`, which is in `line`; NULL: none. */
static char *find_file(uintptr_t address)
{
	static char chunk[4096];
	size_t at = 0, n = 0;
	char *path = NULL;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	while (!path && fd >= 0 && next_line(fd, chunk, sizeof chunk, &at, &n)) {
		uintptr_t lo, hi;
		const char *s = hex(line, &lo);
		if (*s != '-')
			continue;
		hex(s + 1, &hi);
		if (address >= lo && address < hi)
			path = strchr(line, '/');
		if (address < hi)
			break;
	}
	if (fd >= 0)
		close(fd);
	return path;
}

static void put(const char *s)
{
	for (size_t n = strlen(s); n > 0;) {
		ssize_t done = write(STDERR_FILENO, s, n);
		if (done <= 0)
			return;
		s += done;
		n -= (size_t)done;
	}
}

static void handle(int sig, siginfo_t *info, void *context)
{
	(void)context;
	while (atomic_flag_test_and_set(&is_taken))
		pause();
	char *path = info->si_code == BUS_ADRERR ? find_file((uintptr_t)info->si_addr) : NULL;
	if (!path) {
		signal(sig, SIG_DFL);
		atomic_flag_clear(&is_taken);
		if (info->si_code <= 0) /* sent by kill(); else the instruction runs again */
			raise(sig);
		return;
	}
	put(log_program());
	put(": ");
	put(printable(path));
	put(": another process shortened this file while it was read; try again\n");
	if (at_end)
		at_end();
	_exit(1);
}

void cutguard_start(void (*end)(void))
{
	struct sigaction act = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};
	at_end = end;
	sigaction(SIGBUS, &act, NULL);
}
