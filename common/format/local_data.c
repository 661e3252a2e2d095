/* SPDX-License-Identifier: BSD-3-Clause */
/* See local_data.h. */
#include "common/format/local_data.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Takes "<key><value>\n" from the text. Returns the rest of the text, or NULL. */
static const char *take_line(const char *at, const char *end, const char *key, char *value,
			     size_t room)
{
	size_t n = strlen(key);
	if ((size_t)(end - at) < n || memcmp(at, key, n) != 0)
		return NULL;
	at += n;
	const char *line_end = memchr(at, '\n', (size_t)(end - at));
	if (!line_end || (size_t)(line_end - at) >= room)
		return NULL;
	memcpy(value, at, (size_t)(line_end - at));
	value[line_end - at] = '\0';
	return line_end + 1;
}

bool local_data_read(const void *bytes, size_t n_bytes, struct local_data *l)
{
	const size_t head = strlen(LOCAL_DATA_HEAD);
	const char *at = bytes, *end = at + n_bytes;
	if (n_bytes < head || memcmp(at, LOCAL_DATA_HEAD, head) != 0)
		return false;
	at = take_line(at + head, end, LOCAL_DATA_HOST, l->host, sizeof l->host);
	return at && take_line(at, end, LOCAL_DATA_FILE, l->path, sizeof l->path) &&
	       l->path[0] == '/';
}

_Static_assert(LOCAL_PART_OFFSET + sizeof(struct local_part) <= LOCAL_DATA_BYTES, "in the page");

const struct local_part *local_data_part(const void *bytes, size_t n_bytes)
{
	const size_t head = strlen(LOCAL_DATA_HEAD);
	const struct local_part *p =
		(const void *)((const char *)bytes + LOCAL_PART_OFFSET);
	return n_bytes >= LOCAL_DATA_BYTES && memcmp(bytes, LOCAL_DATA_HEAD, head) == 0 &&
			       memcmp(p->magic, LOCAL_PART_MAGIC, sizeof p->magic) == 0
		       ? p
		       : NULL;
}

static bool is_of_this_host(const struct local_data *l)
{
	char host[sizeof l->host] = "";
	gethostname(host, sizeof host - 1);
	return !strcmp(host, l->host);
}

bool local_data_is_here(const struct local_data *l)
{
	return is_of_this_host(l) && access(l->path, R_OK) == 0;
}

int local_data_open(const struct local_data *l, uid_t owner)
{
	struct stat st;
	int fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == owner))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

bool local_data_is_gone(const struct local_data *l)
{
	return is_of_this_host(l) && access(l->path, F_OK) != 0 && errno == ENOENT;
}
