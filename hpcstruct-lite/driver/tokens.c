/* SPDX-License-Identifier: BSD-3-Clause */
/* Job tokens in a pipe; see tokens.h. */
#include "hpcstruct-lite/driver/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

bool tokens_make(struct tokens *t, unsigned n)
{
	int fds[2];
	if (pipe2(fds, O_CLOEXEC) != 0)
		return false;
	*t = (struct tokens){fds[0], fds[1]};
	fcntl(t->read_fd, F_SETFL,
	      O_NONBLOCK); /* several processes wait, and a late one must not block in read() */
	while (n-- > 0)
		tokens_give(t);
	return true;
}

void tokens_destroy(struct tokens *t)
{
	close(t->read_fd);
	close(t->write_fd);
}

bool tokens_try(struct tokens *t)
{
	char byte;
	return read(t->read_fd, &byte, 1) == 1;
}

bool tokens_take(struct tokens *t, int cancel_fd)
{
	for (;;) {
		struct pollfd fds[2] = {{t->read_fd, POLLIN, 0}, {cancel_fd, POLLIN, 0}};
		if (poll(fds, cancel_fd >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
			return false;
		if (cancel_fd >= 0 && (fds[1].revents & POLLIN))
			return false;
		if ((fds[0].revents & POLLIN) && tokens_try(t))
			return true;
	}
}

void tokens_give(struct tokens *t)
{
	while (write(t->write_fd, "t", 1) < 0 && errno == EINTR)
		continue;
}
