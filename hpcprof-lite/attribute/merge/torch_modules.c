/* SPDX-License-Identifier: BSD-3-Clause */
/* See torch_modules.h. Test: tests/unit/prof_torch/test_torch_modules.c. */
#include "hpcprof-lite/attribute/merge/torch_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 1024 }; /* bounds names, which damaged records could make very long */

/* The name relative to the outermost module; "" for that module itself. */
static char *path_of(const struct load_torch_module *m, const char *outer)
{
	char *path;
	const bool is_long = strlen(outer) > PATH_MOST;
	if (asprintf(&path, "%s%s%s", is_long ? "..." : outer, *outer && !is_long ? "." : "",
		     m->name) < 0)
		return NULL;
	return path;
}

static char *name_of(const struct load_torch_module *m, const char *path)
{
	char *name;
	const int n = *path ? asprintf(&name, "%s (%s)", path, m->class)
			    : asprintf(&name, "%s", m->class);
	return n < 0 ? NULL : name;
}

static void free_all(char **at, size_t n)
{
	for (size_t i = 0; at && i < n; i++)
		free(at[i]);
	free(at);
}

char **torch_modules_name(const struct load_file *f)
{
	const size_t n = f->torch_modules.n;
	char **paths = calloc(n + 1, sizeof *paths), **names = calloc(n + 1, sizeof *names);
	bool ok = paths && names;
	for (size_t id = 1; ok && id < n; id++) {
		const struct load_torch_module *m = &f->torch_modules.at[id];
		if (!m->record)
			continue;
		/* the parent has a smaller id */
		const char *outer = paths[m->record->parent];
		paths[id] = path_of(m, outer ? outer : "");
		names[id] = paths[id] ? name_of(m, paths[id]) : NULL;
		ok = names[id];
	}
	free_all(paths, n);
	if (!ok) {
		free_all(names, n);
		return NULL;
	}
	return names;
}
