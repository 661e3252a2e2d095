/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formatted text without stdio; see text.h. Must not allocate, must stay signal-safe. Test:
 * tests/unit/common/test_safe.c.
 */
#include "common/safe/text.h"

#include "common/safe/printable.h"
#include "common/safe/sys.h"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>

struct text text_in(char *buffer, size_t room)
{
	buffer[0] = '\0';
	return (struct text){.at = buffer, .room = room};
}

void text_put_char(struct text *t, char c)
{
	if (t->n + 1 >= t->room) {
		t->cut = true;
		return;
	}
	t->at[t->n++] = c;
	t->at[t->n] = '\0';
}

void text_put(struct text *t, const char *s)
{
	while (*s)
		text_put_char(t, *s++);
}

void text_put_foreign(struct text *t, const char *s)
{
	while (*s) {
		bool harmless;
		size_t n = printable_step(s, &harmless);
		if (!harmless)
			text_put_char(t, '?');
		for (size_t i = 0; harmless && i < n; i++)
			text_put_char(t, s[i]);
		s += n;
	}
}

/* Digits of v, least significant first; returns how many. */
static unsigned digits_of(uint64_t v, char digits[20])
{
	unsigned n = 0;
	do
		digits[n++] = (char)('0' + v % 10);
	while (v /= 10);
	return n;
}

void text_put_padded(struct text *t, uint64_t v, unsigned width, char fill)
{
	char digits[20];
	unsigned n = digits_of(v, digits);
	for (; width > n; width--)
		text_put_char(t, fill);
	while (n)
		text_put_char(t, digits[--n]);
}

void text_put_u64(struct text *t, uint64_t v)
{
	text_put_padded(t, v, 0, ' ');
}

void text_put_hex(struct text *t, const uint8_t *bytes, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	for (size_t i = 0; i < n; i++) {
		text_put_char(t, hex[bytes[i] >> 4]);
		text_put_char(t, hex[bytes[i] & 15]);
	}
}

void text_put_hex_number(struct text *t, uint64_t v)
{
	static const char hex[] = "0123456789abcdef";
	unsigned n = 1;
	while (n < 16 && v >> 4 * n)
		n++;
	while (n-- > 0)
		text_put_char(t, hex[v >> 4 * n & 15]);
}

void text_put_grouped(struct text *t, uint64_t v)
{
	char digits[20];
	unsigned n = digits_of(v, digits);
	while (n) {
		text_put_char(t, digits[--n]);
		if (n && n % 3 == 0)
			text_put_char(t, ',');
	}
}

void text_put_fixed(struct text *t, uint64_t v, unsigned digits)
{
	uint64_t scale = 1;
	for (unsigned i = 0; i < digits; i++)
		scale *= 10;
	text_put_u64(t, v / scale);
	if (digits) {
		text_put_char(t, '.');
		text_put_padded(t, v % scale, digits, '0');
	}
}

/* Signals 1 to 64 are bits 0 to 63, as in the kernel. */
static uint64_t bit(int sig)
{
	return UINT64_C(1) << (sig - 1);
}

#define PIPE_PIECE 4096u    /* a pipe that is ready takes this much */
#define TERMINAL_PIECE 256u /* a terminal takes at least this much */

/* Writes at most n bytes to a file that may make a writer wait. Returns 0 if it would have to wait.
 * Does not set O_NONBLOCK: that would affect everybody who has the file open. */
static long write_ready(int fd, const char *from, size_t n, bool is_pipe)
{
	const struct iovec piece = {(void *)(uintptr_t)from, n};
	struct timespec none = {0, 0};
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	if (is_pipe) {
		long done = sys_call6(SYS_pwritev2, fd, (long)&piece, 1, -1, -1, RWF_NOWAIT);
		if (done != -EOPNOTSUPP && done != -EINVAL && done != -ENOSYS && done != -EPERM)
			return done == -EAGAIN ? 0 : done;
	}
	if (sys_call6(SYS_ppoll, (long)&ready, 1, (long)&none, 0, 0, 0) != 1 ||
	    !(ready.revents & POLLOUT))
		return 0;
	return sys_write(fd, from, n);
}

static void write_all(const struct text *t, int fd)
{
	struct stat st = {0};
	if (sys_call3(SYS_fstat, fd, (long)&st, 0) != 0)
		return;
	const bool waits = !S_ISREG(st.st_mode);
	const size_t most = S_ISCHR(st.st_mode) ? TERMINAL_PIECE : PIPE_PIECE;
	for (size_t done = 0; done < t->n;) {
		const size_t left = t->n - done;
		long n = waits ? write_ready(fd, t->at + done, left < most ? left : most,
					     S_ISFIFO(st.st_mode))
			       : sys_write(fd, t->at + done, left);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return;
		done += (size_t)n;
	}
}

/* A pipe without readers or a file at its limit raises a signal in this thread. We take the signal
 * back unless it was already pending. */
void text_write(const struct text *t, int fd)
{
	const uint64_t raised = bit(SIGPIPE) | bit(SIGXFSZ);
	const struct timespec zero = {0, 0};
	uint64_t before = 0, pending = 0;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&raised, (long)&before, sizeof before);
	sys_call3(SYS_rt_sigpending, (long)&pending, sizeof pending, 0);
	write_all(t, fd);
	const uint64_t ours = raised & ~pending;
	while (sys_call4(SYS_rt_sigtimedwait, (long)&ours, 0, (long)&zero, sizeof ours) > 0)
		;
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
}
