/* SPDX-License-Identifier: BSD-3-Clause */
/* See jit_code.h. Makes system calls only. Test: tests/cli/jit/jit_files.sh. */
#include "hpcrun-lite/runtime/code/jit_code.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/code/maps.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/*
 * The program waits for the copy. A larger file stays where it is, and hpcprof-lite finds it there.
 */
#define JIT_MAX_BYTES (64u << 20)

static struct {
	_Atomic uint32_t n_seen; /* paths with code outside all modules */
	_Atomic bool is_noted; /* the path of the jitdump is in the measurement */
	trylock lock;         /* protects the fields below */
	char jitdump[PATH_MAX]; /* "": not found */
	char temporary[PATH_MAX]; /* $TMPDIR */
	char path[PATH_MAX];
	struct maps_room room;
	char buffer[65536];
} jit;

void jit_start(void)
{
	const char *directory = getenv("TMPDIR");
	size_t n = directory ? strlen(directory) : 0;
	if (n && n < sizeof jit.temporary && directory[0] == '/')
		memcpy(jit.temporary, directory, n + 1);
}

void jit_forked(void)
{
	trylock_forked(&jit.lock);
	if (!atomic_load_explicit(&jit.n_seen, memory_order_relaxed))
		return; /* nothing to forget; see trylock_forked() */
	atomic_store_explicit(&jit.n_seen, 0, memory_order_relaxed);
	atomic_store_explicit(&jit.is_noted, false, memory_order_relaxed);
	jit.jitdump[0] = '\0';
}

/* ---- the jitdump ---- */

/* Matches jit-PID.dump. The PID may be from another PID namespace. */
static bool is_jitdump(const char *name)
{
	size_t digits;
	if (strncmp(name, "jit-", 4) != 0)
		return false;
	digits = strspn(name + 4, "0123456789");
	return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

static bool look_at_line(const struct maps_line *line, void *unused)
{
	const char *slash = strrchr(line->path, '/');
	(void)unused;
	if (!line->is_code || !slash || !is_jitdump(slash + 1) ||
	    strlen(line->path) >= sizeof jit.jitdump)
		return true;
	memcpy(jit.jitdump, line->path, strlen(line->path) + 1);
	return false;
}

/* Searches the list of mappings; reads at most n_bytes plus one buffer. The lock is held. */
static void find_jitdump(uint64_t n_bytes)
{
	maps_each(&jit.room, n_bytes, look_at_line, NULL);
	if (jit.jitdump[0] && records_info_text("jitdump", jit.jitdump))
		atomic_store_explicit(&jit.is_noted, true, memory_order_relaxed);
}

void jit_look_at(const uint64_t *addr, uint32_t n)
{
	enum { LAST_LOOK = 1 << 16, LOOK_BYTES = 1 << 18 };
	uint32_t i = 0;
	/* relaxed: only hints; a lock protects the rest */
	if (atomic_load_explicit(&jit.is_noted, memory_order_relaxed)
		|| atomic_load_explicit(&jit.n_seen, memory_order_relaxed) >= LAST_LOOK)
		return;
	while (i < n && msr_addr_module(addr[i]) != MSR_MODULE_NONE)
		i++;
	if (i == n)
		return;
	/*
	 * Looks at the first, 2nd, 4th, 8th ... path, because the jitdump may be created after the
	 * first code. The list costs 9 ns per byte in the kernel, so this reads only a part.
	 * jit_keep() reads all of it.
	 */
	uint32_t seen = atomic_fetch_add_explicit(&jit.n_seen, 1, memory_order_relaxed) + 1;
	if ((seen & (seen - 1)) == 0 && trylock_take(&jit.lock)) {
		find_jitdump(LOOK_BYTES);
		trylock_give(&jit.lock);
	}
}

/* ---- copies ---- */

static bool copy_bytes(int to, int from, uint64_t n_bytes)
{
	while (n_bytes) {
		long got = sys_read(from, jit.buffer, n_bytes < sizeof jit.buffer ? (size_t)n_bytes
			: sizeof jit.buffer);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got == 0; /* the file became shorter */
		for (long done = 0; done < got;) {
			long put = sys_write(to, jit.buffer + done, (size_t)(got - done));
			if (put <= 0 && put != -EINTR)
				return false;
			done += put > 0 ? put : 0;
		}
		n_bytes -= (uint64_t)got;
	}
	return true;
}

/* A file of this user that is not too large to write: a larger one would raise SIGXFSZ. */
static bool may_copy(int fd, struct stat *st)
{
	struct stat own;
	struct rlimit limit;
	if (sys_call3(SYS_fstat, fd, (long)st, 0) != 0
		|| sys_call3(SYS_fstat, store_fd(), (long)&own, 0) != 0)
		return false;
	if (!S_ISREG(st->st_mode) || st->st_uid != own.st_uid || st->st_size <= 0
		|| st->st_size > JIT_MAX_BYTES)
		return false;
	return sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) == 0
		&& (uint64_t)st->st_size <= limit.rlim_cur;
}

/*
 * Copies the file to the name of the measurement file with another suffix. The copy has no more
 * permissions than the original.
 */
static bool copy_file(const char *from_path, const char *suffix)
{
	struct stat st;
	const char *store = store_path();
	size_t n = strlen(store), m = strlen(MSR_SUFFIX);
	int from = n > m ? sys_open(from_path,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0) : -1, to = -1;
	if (from < 0)
		return false;
	struct text t = text_in(jit.path, sizeof jit.path);
	text_put(&t, store);
	if (!t.cut && n + strlen(suffix) < sizeof jit.path && may_copy(from, &st)) {
		memcpy(jit.path + n - m, suffix, strlen(suffix) + 1);
		to = sys_open(jit.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			(int)st.st_mode & 0666);
	}
	bool copied = to >= 0 && copy_bytes(to, from, (uint64_t)st.st_size);
	if (to >= 0)
		sys_close(to);
	if (to >= 0 && !copied)
		sys_call3(SYS_unlinkat, AT_FDCWD, (long)jit.path, 0);
	sys_close(from);
	return copied;
}

static bool copy_map(const char *directory)
{
	struct text t = text_in(jit.room.line, sizeof jit.room.line);
	text_put(&t, directory);
	text_put(&t, "/perf-");
	text_put_u64(&t, (uint64_t)process.pid);
	text_put(&t, ".map");
	return directory[0] && !t.cut && copy_file(jit.room.line, MSR_JIT_MAP_SUFFIX);
}

void jit_keep(void)
{
	if (!atomic_load_explicit(&jit.n_seen, memory_order_relaxed) || !store_own()
	    || !trylock_take(&jit.lock))
		return;
	if (!atomic_load_explicit(&jit.is_noted, memory_order_relaxed))
		find_jitdump(UINT64_MAX); /* created late, or the note could not be written */
	if (jit.jitdump[0])
		copy_file(jit.jitdump, MSR_JIT_DUMP_SUFFIX);
	if (!copy_map(jit.temporary))
		copy_map("/tmp");
	trylock_give(&jit.lock);
}
