/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the files of code objects; see content.h. Reads the file size limit first, so that it
 * never raises SIGXFSZ. Test: tests/unit/gpu/test_gpu_define.c.
 */
#include "hpcrun-lite/gpu/content.h"

#include "common/format/measurement_gpu.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"
#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define AT_CWD (-100)

/* 16 hexadecimal digits. */
static void put_number(struct text *t, uint64_t number)
{
	uint8_t digits[8];
	for (unsigned i = 0; i < 8; i++)
		digits[i] = (uint8_t)(number >> (56 - 8 * i));
	text_put_hex(t, digits, sizeof digits);
}

const char *content_name(char name[CONTENT_NAME_BYTES], const uint64_t hash[2], const char *suffix)
{
	struct text t = text_in(name, CONTENT_NAME_BYTES);
	put_number(&t, hash[0]);
	put_number(&t, hash[1]);
	text_put(&t, suffix);
	return name;
}

static bool is_there(const char *path, size_t n)
{
	struct stat st;
	return sys_call4(SYS_newfstatat, AT_CWD, (long)path, (long)&st, 0) == 0 &&
	       S_ISREG(st.st_mode) && (size_t)st.st_size == n;
}

static bool is_within_limit(size_t n)
{
	struct rlimit limit;
	return sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) != 0 ||
	       limit.rlim_cur == RLIM_INFINITY || n <= limit.rlim_cur;
}

static bool write_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n) {
		long done = sys_write(fd, bytes, n);
		if (done == -EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		n -= (size_t)done;
	}
	return true;
}

/*
 * Uses a temporary name that no other process has, not even one with the same number on another
 * host.
 */
static bool write_renamed(const char *folder, const char *final, const void *bytes, size_t n)
{
	char path[PATH_MAX];
	struct text t = text_in(path, sizeof path);
	text_put(&t, folder);
	text_put(&t, "/.");
	text_put_u64(&t, (uint64_t)sys_gettid());
	text_put_char(&t, '-');
	text_put_u64(&t, clock_ns(CLOCK_REALTIME));
	int fd = t.cut ? -1 : sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	bool good = write_all(fd, bytes, n);
	good = sys_close(fd) == 0 && good;
	good = good && sys_call4(SYS_renameat, AT_CWD, (long)path, AT_CWD, (long)final) == 0;
	if (!good)
		sys_call3(SYS_unlinkat, AT_CWD, (long)path, 0);
	return good;
}

/* ---- structures of known content ---- */

/* Returns true if this is a complete structure file of this version. */
static bool is_structure(int fd, size_t *n_bytes)
{
	struct structure_header h;
	struct stat st;
	if (sys_call3(SYS_fstat, fd, (long)&st, 0) != 0 || !S_ISREG(st.st_mode) ||
	    sys_pread(fd, &h, sizeof h, 0) != (long)sizeof h)
		return false;
	*n_bytes = (size_t)st.st_size;
	return memcmp(h.magic, STRUCTURE_MAGIC, sizeof h.magic) == 0 &&
	       h.version_major == STRUCTURE_VERSION_MAJOR && h.file_bytes == *n_bytes &&
	       !(h.flags & (STRUCTURE_FLAG_INCOMPLETE | STRUCTURE_FLAG_PARTIAL));
}

static bool copy_structure(int fd, size_t n, const char *folder, const char *final)
{
	long bytes = sys_mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (sys_is_error(bytes))
		return false;
	bool good = is_within_limit(n) && write_renamed(folder, final, (const void *)bytes, n);
	sys_munmap((void *)bytes, n);
	return good;
}

bool content_take_structure(const char *directory, const char *cache, const uint64_t hash[2])
{
	char folder[PATH_MAX], final[PATH_MAX], known[PATH_MAX], key[CONTENT_NAME_BYTES];
	struct text t = text_in(folder, sizeof folder), f = text_in(final, sizeof final),
		    k = text_in(known, sizeof known);
	size_t n = 0;
	content_name(key, hash, "");
	text_put(&t, directory);
	text_put(&t, "/structs");
	text_put(&f, folder);
	text_put_char(&f, '/');
	text_put(&f, key);
	text_put(&f, STRUCTURE_SUFFIX);
	text_put(&k, cache);
	text_put_char(&k, '/');
	text_put(&k, key);
	text_put_char(&k, '-');
	put_number(&k, STRUCTURE_REVISION);
	text_put(&k, STRUCTURE_SUFFIX);
	if (t.cut || f.cut || k.cut)
		return false;
	int fd = sys_open(known, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return false;
	bool good = is_structure(fd, &n);
	const bool is_taken = good && is_there(final, n);
	if (good && !is_taken) {
		sys_call3(SYS_mkdirat, AT_CWD, (long)folder, 0777);
		good = sys_call6(SYS_linkat, AT_CWD, (long)known, AT_CWD, (long) final, 0, 0) ==
			       0 ||
		       copy_structure(fd, n, folder, final);
	}
	/*
	 * Mark it as recently used, once per run: the cache drops the least recently used files
	 * first.
	 */
	if (good && !is_taken)
		sys_call4(SYS_utimensat, fd, 0, 0, 0);
	sys_close(fd);
	return good;
}

bool content_save(const char *directory, const uint64_t hash[2], const char *suffix,
		  const void *bytes, size_t n, char name[CONTENT_NAME_BYTES])
{
	char folder[PATH_MAX], final[PATH_MAX];
	struct text t = text_in(folder, sizeof folder), f = text_in(final, sizeof final);
	content_name(name, hash, suffix);
	text_put(&t, directory);
	text_put(&t, "/" MSR_GPU_CODE_DIRECTORY);
	text_put(&f, folder);
	text_put_char(&f, '/');
	text_put(&f, name);
	if (t.cut || f.cut)
		return false;
	if (is_there(final, n))
		return true;
	sys_call3(SYS_mkdirat, AT_CWD, (long)folder, 0777);
	return is_within_limit(n) && write_renamed(folder, final, bytes, n);
}
