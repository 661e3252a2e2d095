/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A FUSE file system that hands everything on to another directory and can turn bad: bad_fs DIR
 * CONTROL LOG -f MOUNTPOINT. CONTROL is a file with a word for writes, fsync and opening: ok, eio,
 * enospc, slow (50 ms each) or hang (until the word changes, at most 60 s). LOG gets a line
 * "OPERATION PATH" for each operation that makes, opens, lists, links or removes a name. Tests:
 * tests/cli/storage/storage_server.sh, tests/cli/storage/storage_start.sh.
 */
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *backing, *control;
static int log_fd = -1;

static void note(const char *operation, const char *path)
{
	char line[PATH_MAX + 32];
	int n = snprintf(line, sizeof line, "%s %s\n", operation, path);
	if (write(log_fd, line, (size_t)n) != n)
		abort();
}

/* Follows the control file. Returns 0 or -errno. */
static int mood(void)
{
	for (int turn = 0; turn < 600; turn++) {
		char word[16] = "";
		int fd = open(control, O_RDONLY);
		ssize_t n = fd < 0 ? 0 : read(fd, word, sizeof word - 1);
		if (fd >= 0)
			close(fd);
		if (n > 0)
			word[strcspn(word, "\n")] = 0;
		if (!strcmp(word, "eio"))
			return -EIO;
		if (!strcmp(word, "enospc"))
			return -ENOSPC;
		if (!strcmp(word, "slow"))
			usleep(50000);
		if (strcmp(word, "hang") != 0)
			return 0;
		usleep(100000);
	}
	return -EIO;
}

static const char *in_backing(const char *path, char *full)
{
	snprintf(full, PATH_MAX, "%s%s", backing, path);
	return full;
}

static int result(long r)
{
	return r < 0 ? -errno : 0;
}

static int bad_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	char full[PATH_MAX];
	(void)fi;
	return result(lstat(in_backing(path, full), st));
}

static int bad_access(const char *path, int mask)
{
	char full[PATH_MAX];
	return result(access(in_backing(path, full), mask));
}

static int bad_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		       struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	char full[PATH_MAX];
	(void)offset, (void)fi, (void)flags;
	note("list", path);
	DIR *d = opendir(in_backing(path, full));
	if (!d)
		return -errno;
	for (struct dirent *e; (e = readdir(d));)
		fill(buffer, e->d_name, NULL, 0, 0);
	closedir(d);
	return 0;
}

static int bad_mkdir(const char *path, mode_t mode)
{
	char full[PATH_MAX];
	note("mkdir", path);
	return result(mkdir(in_backing(path, full), mode));
}

static int bad_unlink(const char *path)
{
	char full[PATH_MAX];
	note("unlink", path);
	return result(unlink(in_backing(path, full)));
}

static int bad_rmdir(const char *path)
{
	char full[PATH_MAX];
	note("rmdir", path);
	return result(rmdir(in_backing(path, full)));
}

static int bad_rename(const char *from, const char *to, unsigned flags)
{
	char full_from[PATH_MAX], full_to[PATH_MAX];
	note("rename", from);
	return flags ? -EINVAL
		     : result(rename(in_backing(from, full_from), in_backing(to, full_to)));
}

static int bad_link(const char *from, const char *to)
{
	char full_from[PATH_MAX], full_to[PATH_MAX];
	note("link", to);
	return result(link(in_backing(from, full_from), in_backing(to, full_to)));
}

static int bad_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	char full[PATH_MAX];
	(void)fi;
	return result(chmod(in_backing(path, full), mode));
}

static int bad_truncate(const char *path, off_t n, struct fuse_file_info *fi)
{
	char full[PATH_MAX];
	(void)fi;
	return result(truncate(in_backing(path, full), n));
}

static int open_backing(const char *path, int flags, mode_t mode, struct fuse_file_info *fi)
{
	char full[PATH_MAX];
	int bad = mood();
	if (bad)
		return bad;
	int fd = open(in_backing(path, full), flags, mode);
	fi->fh = (uint64_t)fd;
	return fd < 0 ? -errno : 0;
}

static int bad_open(const char *path, struct fuse_file_info *fi)
{
	note("open", path);
	/* the kernel reads what it is to write back */
	return open_backing(path, fi->flags & O_ACCMODE ? O_RDWR | (fi->flags & O_TRUNC) : O_RDONLY,
			    0, fi);
}

static int bad_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	note("create", path);
	return open_backing(path, O_RDWR | O_CREAT | (fi->flags & (O_EXCL | O_TRUNC)), mode, fi);
}

static int bad_read(const char *path, char *to, size_t n, off_t at, struct fuse_file_info *fi)
{
	(void)path;
	ssize_t r = pread((int)fi->fh, to, n, at);
	return r < 0 ? -errno : (int)r;
}

static int bad_write(const char *path, const char *from, size_t n, off_t at,
		     struct fuse_file_info *fi)
{
	(void)path;
	int bad = mood();
	if (bad)
		return bad;
	ssize_t r = pwrite((int)fi->fh, from, n, at);
	return r < 0 ? -errno : (int)r;
}

static int bad_flush(const char *path, struct fuse_file_info *fi)
{
	(void)path, (void)fi;
	return mood();
}

static int bad_fsync(const char *path, int data_only, struct fuse_file_info *fi)
{
	(void)path, (void)data_only, (void)fi;
	return mood();
}

static int bad_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	return result(close((int)fi->fh));
}

static int bad_statfs(const char *path, struct statvfs *st)
{
	char full[PATH_MAX];
	return result(statvfs(in_backing(path, full), st));
}

static const struct fuse_operations operations = {
	.getattr = bad_getattr,
	.access = bad_access,
	.readdir = bad_readdir,
	.mkdir = bad_mkdir,
	.unlink = bad_unlink,
	.rmdir = bad_rmdir,
	.rename = bad_rename,
	.link = bad_link,
	.chmod = bad_chmod,
	.truncate = bad_truncate,
	.open = bad_open,
	.create = bad_create,
	.read = bad_read,
	.write = bad_write,
	.flush = bad_flush,
	.fsync = bad_fsync,
	.release = bad_release,
	.statfs = bad_statfs,
};

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	backing = argv[1];
	control = argv[2];
	log_fd = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0666);
	argv[3] = argv[0];
	return log_fd < 0 ? 1 : fuse_main(argc - 3, argv + 3, &operations, NULL);
}
