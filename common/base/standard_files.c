/* SPDX-License-Identifier: BSD-3-Clause */
/* See standard_files.h. */
#include "common/base/standard_files.h"

#include <fcntl.h>
#include <unistd.h>

void standard_files_keep(void)
{
	int fd;
	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC); /* takes the lowest free one */
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
