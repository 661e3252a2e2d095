/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See node_local.h. A wrong guess does no harm: files are copied unnecessarily, or the program
 * waits for the server as it does for its own files. Test: tests/cli/storage/storage_local.sh.
 */
#include "hpcrun-lite/launch/directory/node_local.h"

#include "common/base/log.h"
#include "common/safe/fnv.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994u
#define RAMFS 0x858458f6u
#define LEAST_BYTES (UINT64_C(64) << 20) /* a smaller place is not worth a try */
#define LEAVE_MOST (UINT64_C(10) << 30)

/* From statfs(2), and stat(1) of coreutils, which marks remote file systems. */
static const struct {
	uint32_t magic;
	const char *name;
} servers[] = {
	{0x00006969, "NFS"},         {0x0bd00bd0, "Lustre"},   {0x47504653, "GPFS"},
	{0xff534d42, "CIFS"},        {0xfe534d42, "SMB"},      {0x0000517b, "SMB"},
	{0x65735546, "FUSE"},        {0x00c36400, "CephFS"},   {0x19830326, "BeeGFS"},
	{0x5346414f, "AFS"},         {0x6b414653, "AFS"},      {0x01021997, "9P"},
	{0x20030528, "OrangeFS"},    {0xaad7aaea, "PanFS"},    {0x18031977, "WekaFS"},
	{0x01161970, "GFS2"},        {0x7461636f, "OCFS2"},    {0x73757245, "Coda"},
	{0xbacbacbc, "VMware's"},    {0x786f4256, "VirtualBox's"},
};

static const char *name_of(const struct statfs *fs)
{
	for (size_t i = 0; i < sizeof servers / sizeof *servers; i++)
		if (servers[i].magic == (uint32_t)fs->f_type)
			return servers[i].name;
	return NULL;
}

static const char *server_name(const char *directory)
{
	struct statfs fs;
	return statfs(directory, &fs) == 0 ? name_of(&fs) : NULL;
}

bool node_local_is_server(int fd)
{
	struct statfs fs;
	return fstatfs(fd, &fs) == 0 && name_of(&fs);
}

void node_local_places(const char *wanted, const char *places[NODE_LOCAL_PLACES])
{
	places[0] = getenv("TMPDIR");
	places[1] = "/var/tmp";
	places[2] = "/dev/shm"; /* our last choice, because it uses memory of the job */
	places[3] = wanted;
}

bool node_local_path(const char *place, const char *directory, char *path, size_t n_bytes)
{
	char real[PATH_MAX];
	if (!place || place[0] != '/' || !realpath(place, real))
		return false;
	for (const char *c = real; *c; c++) /* the path is written as one line of a text */
		if ((unsigned char)*c < 0x20)
			return false;
	uint64_t key = fnv64(FNV64_START, directory, strlen(directory));
	int n = snprintf(path, n_bytes, "%s/hpcrun-lite-%u-%016llx", real, (unsigned)geteuid(),
			 (unsigned long long)key);
	return n > 0 && (size_t)n < n_bytes;
}

/*
 * Makes the directory, or uses the one that another rank of this node has made. It must belong to
 * our user alone, because anyone may have created something of that name. Sets errno on failure.
 */
static bool make_own(const char *path)
{
	struct stat st;
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return false;
	if (lstat(path, &st) != 0)
		return false;
	errno = EPERM;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
}

static bool is_memory(const struct statfs *fs)
{
	return (uint32_t)fs->f_type == TMPFS || (uint32_t)fs->f_type == RAMFS;
}

/*
 * How much to leave free: a tenth of a disk (at most LEAVE_MOST), half of a file system in memory.
 */
static uint64_t bytes_to_leave(const struct statfs *fs)
{
	const uint64_t all = (uint64_t)fs->f_blocks * (uint64_t)fs->f_bsize;
	if (is_memory(fs))
		return all / 2;
	return all / 10 < LEAVE_MOST ? all / 10 : LEAVE_MOST;
}

static bool has_room(const struct statfs *fs, uint64_t least)
{
	return (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize >= bytes_to_leave(fs) + least;
}

/* Requires that `least` bytes are available. Sets errno on failure. */
static bool try_place(const char *place, uint64_t least, struct config *c)
{
	struct statfs fs;
	char path[PATH_MAX];
	errno = EINVAL;
	if (!node_local_path(place, c->directory, path, sizeof path) ||
	    strlen(path) >= sizeof c->local || statfs(place, &fs) != 0)
		return false;
	errno = ENOSPC;
	if (!has_room(&fs, least) || !make_own(path))
		return false;
	snprintf(c->local, sizeof c->local, "%s", path);
	c->leave_bytes = bytes_to_leave(&fs);
	return true;
}

static bool find_tool(struct config *c)
{
	ssize_t n = readlink("/proc/self/exe", c->tool, sizeof c->tool - 1);
	c->tool[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static enum status choose_wanted(const char *wanted, struct config *c)
{
	char real[PATH_MAX];
	if (realpath(wanted, real) && find_tool(c) && try_place(real, 0, c))
		return STATUS_OK;
	log_error(wanted, "cannot keep the measurement here while the program runs (%s); choose "
			  "another directory with --local",
		  strerror(errno));
	return STATUS_IO;
}

/* Returns NULL if the place is chosen, or why not. */
static const char *choose_place(const char *place, struct config *c)
{
	if (!place)
		return "not set";
	if (server_name(place))
		return "on a file server";
	return try_place(place, LEAST_BYTES, c) ? NULL : strerror(errno);
}

enum status node_local_choose(const char *wanted, struct config *c)
{
	const char *places[NODE_LOCAL_PLACES];
	char causes[NODE_LOCAL_PLACES][64];
	if (wanted && !strcmp(wanted, NODE_LOCAL_NONE))
		return STATUS_OK;
	if (wanted)
		return choose_wanted(wanted, c);
	const char *server = server_name(c->directory);
	if (!server || !find_tool(c))
		return STATUS_OK;
	node_local_places(NULL, places);
	for (size_t i = 0; i < NODE_LOCAL_PLACES; i++) {
		const char *cause = choose_place(places[i], c);
		if (!cause)
			return STATUS_OK;
		snprintf(causes[i], sizeof causes[i], "%s", cause);
	}
	log_note(c->directory,
		 "is on a file server (%s), and no directory of this node can be used: $TMPDIR "
		 "(%s), /var/tmp (%s), /dev/shm (%s); the program may wait for the server; name "
		 "one with --local",
		 server, causes[0], causes[1], causes[2]);
	return STATUS_OK;
}

bool node_local_describe(const char *directory, char *text, size_t n_bytes)
{
	const char *places[NODE_LOCAL_PLACES];
	struct statfs fs;
	text[0] = 0;
	if (statfs(directory, &fs) != 0)
		return true;
	const char *server = name_of(&fs);
	if (is_memory(&fs))
		snprintf(text, n_bytes, "tmpfs: measurements are in memory");
	if (!server)
		return true;
	node_local_places(NULL, places);
	for (size_t i = 0; i < NODE_LOCAL_PLACES; i++) {
		if (!places[i] || statfs(places[i], &fs) != 0 || name_of(&fs) ||
		    !has_room(&fs, LEAST_BYTES) || access(places[i], W_OK) != 0)
			continue;
		snprintf(text, n_bytes, "%s: kept in %.200s while programs run", server, places[i]);
		return true;
	}
	snprintf(text, n_bytes, "%s", server);
	return false;
}
