/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_file.h. Test: tests/cli/compare/compare_gate.sh. */
#include "hpcprof-lite/compare/compare_file.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes the file under a name of our own in the same directory. */
static enum status write_beside(const char *path, const char *partial, const char *bytes,
				size_t n_bytes)
{
	struct outfile f;
	enum status s = outfile_create(&f, partial[0] == '/' ? "" : ".", partial);
	if (s != STATUS_OK)
		return s;
	outfile_write(&f, bytes, n_bytes, 0);
	char *made = strdup(f.path);
	s = made ? outfile_close(&f) : STATUS_NO_MEMORY;
	if (!made) {
		outfile_abandon(&f);
		log_error(NULL, "out of memory");
	} else if (s == STATUS_OK && rename(made, path) != 0) {
		log_error(path, "cannot be named: %s", strerror(errno));
		unlink(made);
		s = STATUS_IO;
	}
	free(made);
	return s;
}

/* Writes to a file that is not regular, such as a pipe, or through a link such as /dev/stdout. */
static enum status write_through(const char *path, const char *bytes, size_t n_bytes)
{
	FILE *to = fopen(path, "we");
	bool ok = to && fwrite(bytes, 1, n_bytes, to) == n_bytes;
	if ((to && fclose(to) != 0) || !ok) {
		log_error(path, "cannot be written: %s", strerror(errno));
		return STATUS_IO;
	}
	return STATUS_OK;
}

enum status compare_file_replace(const char *path, const char *bytes, size_t n_bytes)
{
	struct stat old;
	char *partial = NULL;
	if (lstat(path, &old) == 0 && !S_ISREG(old.st_mode))
		return write_through(path, bytes, n_bytes);
	if (asprintf(&partial, "%s.partial-%ld", path, (long)getpid()) < 0) {
		log_error(NULL, "out of memory");
		return STATUS_NO_MEMORY;
	}
	enum status s = write_beside(path, partial, bytes, n_bytes);
	free(partial);
	return s;
}
