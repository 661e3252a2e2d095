/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See store_local.h. If a mapped file is on a file server, the program waits for the server: in
 * page faults, in a sample that meets a page in write-back, and at the end. Test:
 * tests/cli/storage/storage_local.sh.
 */
#include "hpcrun-lite/store/store_local.h"

#include "common/format/local_data.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Only one thread at a time makes the file grow, so only one uses this. */
static struct space note;

static bool make_in_directory(struct space *s, const struct store_options *o, const char **cause)
{
	s->leave_bytes = 0;
	return o->name ? space_create_named(s, o->directory, o->name, cause)
		       : space_create(s, o->directory, o->rank, o->host, o->pid, cause);
}

static void unlink_path(const char *path)
{
	sys_call3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
}

/*
 * Checks the owner: the last process may have removed the directory when it ended, and then anyone
 * can make something of that name.
 */
static bool make_own_directory(const char *path)
{
	struct stat st;
	sys_call3(SYS_mkdirat, AT_FDCWD, (long)path, 0700);
	return sys_call4(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       S_ISDIR(st.st_mode) && st.st_uid == (uid_t)sys_call3(SYS_geteuid, 0, 0, 0) &&
	       !(st.st_mode & 077);
}

/*
 * A killed process, whose measurement directory was then moved, may have left a file of that name.
 * In that case the new file is in the directory.
 */
static bool make_on_node(struct space *s, const struct store_options *o, const char *name)
{
	const char *cause;
	s->leave_bytes = o->leave_bytes;
	for (int tries = 0; tries < 2; tries++)
		if (make_own_directory(o->local) && space_create_named(s, o->local, name, &cause))
			return true;
	return false;
}

/* Without this text, readers find the data by the name of the file. */
static void write_note(const char *host, const char *path)
{
	static char text[LOCAL_DATA_BYTES];
	struct text t = text_in(text, sizeof text);
	text_put(&t, LOCAL_DATA_HEAD LOCAL_DATA_HOST);
	text_put(&t, host);
	text_put(&t, "\n" LOCAL_DATA_FILE);
	text_put(&t, path);
	text_put_char(&t, '\n');
	if (!t.cut)
		space_write(&note, text, t.n, 0);
}

bool store_make_file(struct space *file, const struct store_options *o, const char **cause)
{
	if (!make_in_directory(&note, o, cause))
		return false;
	const char *name = strrchr(note.path, '/') + 1;
	if (!o->local || !o->local[0] || !make_on_node(file, o, name)) {
		*file = note;
		store.target[0] = '\0';
		return true;
	}
	write_note(o->host, file->path);
	space_forget(&note);
	memcpy(store.target, note.path, strlen(note.path) + 1);
	return true;
}

void store_unmake_file(struct space *file)
{
	space_remove(file);
	if (store.target[0])
		unlink_path(store.target);
	store.target[0] = '\0';
}

bool store_leave_node(struct space *file)
{
	if (!store.target[0])
		return false;
	space_remove(file);
	bool opened = space_open(file, store.target);
	if (opened) {
		space_cut(file, 0);
		store.target[0] = '\0';
	}
	return opened;
}

bool store_spill(uint64_t offset)
{
	if (!store.target[0] || store.spill_from ||
	    !space_open(&store.spill, store.target))
		return false;
	store.spill_from = offset;
	return true;
}

const char *store_local_path(void)
{
	return store.target[0] ? store.space.path : "";
}

const char *store_left_path(void)
{
	return store.left;
}

bool store_maker_has_ended(void)
{
	uint64_t end = 0;
	if (!store.slab)
		return true;
	/* We write our end before we read the maker's, so one of the two sees the other's. */
	atomic_thread_fence(memory_order_seq_cst);
	int fd = sys_open(store.space.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd < 0)
		return false;
	sys_pread(fd, &end, sizeof end, offsetof(struct msr_header, end_mono_ns));
	sys_close(fd);
	return end != 0;
}
