/* SPDX-License-Identifier: BSD-3-Clause */
/* See source_find.h. Test: tests/unit/sink/test_sink_cctdb.c. */
#include "hpcprof-lite/sink/source_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool source_relative(const char *path, char **relative)
{
	*relative = NULL;
	if (path[0] != '/')
		return true;
	size_t n = 3;
	char *out = malloc(strlen(path) + sizeof "src/");
	if (!out)
		return false;
	memcpy(out, "src", n);
	while (*path) {
		while (*path == '/')
			path++;
		size_t length = strcspn(path, "/");
		if (length == 2 && memcmp(path, "..", 2) == 0) {
			while (n > 3 && out[--n] != '/')
				;
		} else if (length && !(length == 1 && *path == '.')) {
			out[n++] = '/';
			memcpy(out + n, path, length);
			n += length;
		}
		path += length;
	}
	out[n] = '\0';
	if (n == 3) /* it named the root directory */
		free(out);
	else
		*relative = out;
	return true;
}

const char *source_find(const struct sink_options *o, const char *relative, const char *path,
	char archived[PATH_MAX])
{
	struct stat st;
	for (size_t i = 0; i < o->n_source_dirs; i++)
		if (snprintf(archived, PATH_MAX, "%s/%s", o->source_dirs[i], relative) < PATH_MAX &&
			lstat(archived, &st) == 0 && S_ISREG(st.st_mode))
			return archived;
	return path;
}

bool source_owners_find(const struct model *m, struct rights *owners)
{
	*owners = (struct rights){0};
	bool ok = true;
	for (uint32_t i = 0; i < m->n_processes && ok; i++)
		ok = rights_add(owners, m->processes[i].owner);
	return ok;
}
