/* SPDX-License-Identifier: BSD-3-Clause */
/* See parent.h. Test: tests/cli/parts/parts_alone.sh. */
#include "hpcprof-lite/parts/parent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Lists the variables of the launcher that this process has. Returns their number. */
static size_t list_own(const struct launcher *l, const char *names[2 + 2 * LAUNCHER_NAMES])
{
	size_t n = 0;
	names[n++] = l->rank;
	if (l->size && getenv(l->size))
		names[n++] = l->size;
	for (size_t i = 0; i < LAUNCHER_NAMES && l->needs[i]; i++)
		names[n++] = l->needs[i];
	for (size_t i = 0; i < LAUNCHER_NAMES && l->run[i]; i++)
		if (getenv(l->run[i]))
			names[n++] = l->run[i];
	return n;
}

/* True if `entry`, "NAME=VALUE", is one of the variables, with our value. */
static bool is_own(const char *entry, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const size_t length = strlen(names[i]);
		if (strncmp(entry, names[i], length) == 0 && entry[length] == '=')
			return strcmp(entry + length + 1, getenv(names[i])) == 0;
	}
	return false;
}

bool parent_is_rank(const struct launcher *l)
{
	const char *names[2 + 2 * LAUNCHER_NAMES];
	const size_t n = list_own(l, names);
	size_t n_same = 0, room = 0;
	char path[64], *entry = NULL;
	snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
	FILE *from = fopen(path, "re");
	while (from && getdelim(&entry, &room, '\0', from) > 0)
		n_same += is_own(entry, names, n);
	free(entry);
	if (from)
		fclose(from);
	return n_same == n;
}
