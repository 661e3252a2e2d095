/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths of source files; see source_path.h. */
#include "hpcstruct-lite/debug/source_path.h"

#include "hpcstruct-lite/debug/debug.h"

#include <string.h>

/*
 * Adds a path without its "./" and "//" parts. Keeps "..", because after a symbolic link it means
 * another directory.
 */
static uint32_t add_path(struct strtab *files, const char *const parts[3])
{
	VEC(char) path = {0};
	uint32_t id = STRTAB_FAILED;
	for (int i = 0; i < 3; i++) {
		for (const char *p = parts[i]; p && *p;) {
			size_t n = strcspn(p, "/");
			bool skip = n == 0 || (n == 1 && *p == '.');
			bool slash = (path.n > 0 && path.at[path.n - 1] != '/' && !skip) ||
				     (p == parts[i] && *p == '/' && path.n == 0);
			char *at = vec_extend(&path, (skip ? 0 : n) + slash);
			if (!at && (!skip || slash))
				goto done;
			if (slash)
				*at++ = '/';
			if (!skip)
				memcpy(at, p, n);
			p += n + (p[n] == '/');
		}
	}
	id = strtab_add(files, path.n ? path.at : "", path.n);
done:
	vec_free(&path);
	return id;
}

uint32_t source_path_add(struct strtab *files, const char *comp_dir, const char *dir,
			 const char *name)
{
	if (!name || !*name)
		return DEBUG_NONE;
	if (name[0] == '/')
		dir = comp_dir = NULL;
	else if (dir && dir[0] == '/')
		comp_dir = NULL;
	const char *const parts[3] = {comp_dir, dir, name};
	return add_path(files, parts);
}
