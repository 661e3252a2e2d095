/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distinguishes builds without build id by the content of the file: a rebuild can have the same
 * path, size and time as the build that ran. Reads the file, because relocations and breakpoints
 * change the memory. Test: tests/cli/run/run_modules.sh.
 */
#include "common/safe/content_hash.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/code/module_internal.h"

#include <fcntl.h>

static uint8_t buffer[CONTENT_PIECE_BYTES]; /* under the lock of the table */

static const void *read_piece(void *fd, uint64_t at, size_t n)
{
	return sys_pread(*(const int *)fd, buffer, n, at) == (long)n ? buffer : NULL;
}

static bool is_of(const struct module *m, int fd)
{
	struct stat st;
	return sys_call3(SYS_fstat, fd, (long)&st, 0) == 0 && S_ISREG(st.st_mode) &&
	       module_is_file(m, &st);
}

void module_set_content(struct module *m, uint64_t content)
{
	uint64_t *const field = (void *)((char *)m->record + module_plain_bytes(m));
	m->content = content;
	*field = content; /* one aligned store: others may read the file */
}

static void read_content(struct module *m)
{
	const char *path = m->is_gone && module_is_exe(m) ? MODULE_EXE : m->path;
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	m->content_was_read = true;
	if (fd < 0)
		return;
	const uint64_t content =
		is_of(m, fd) ? content_hash(m->file_bytes, read_piece, &fd) : 0;
	if (content)
		module_set_content(m, content);
	sys_close(fd);
}

void module_read_contents(void)
{
	if (!modules_have_records() || !modules_lock())
		return;
	for (uint32_t i = 0; i < modules_count(); i++) {
		struct module *m = module_at(i);
		if (!m->id_bytes && !m->content_was_read && m->file_bytes && m->record)
			read_content(m);
	}
	modules_unlock();
}
