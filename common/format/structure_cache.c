/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cache of structures; see structure_cache.h. Must not touch a file unless its name is one of
 * ours.
 */
#include "common/format/structure_cache.h"

#include "common/base/log.h"
#include "common/base/sorted.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"
#include "common/rights/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_LIMIT (UINT64_C(2) << 30)
#define LEAST_ROOM (UINT64_C(16) << 20) /* with less free space, treat the cache as full */
#define NS_PER_S UINT64_C(1000000000)
#define IN_USE_NS (3600 * NS_PER_S)
#define OLD_DRAFT_NS (24 * 3600 * NS_PER_S)
#define HEX "0123456789abcdef"
enum { FINGERPRINT_DIGITS = 16, DRAFT_SUFFIX_BYTES = 7 }; /* ".XXXXXX" of mkstemp(3) */

/* ---- where it is ---- */

bool structure_cache_directory(char dir[PATH_MAX])
{
	const char *own = getenv("HPCTOOLKIT_LITE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");
	int n = 0;
	if (own)
		n = snprintf(dir, PATH_MAX, "%s", own);
	else if (xdg && xdg[0] == '/')
		n = snprintf(dir, PATH_MAX, "%s/hpctoolkit-lite", xdg);
	else if (home && home[0] == '/')
		n = snprintf(dir, PATH_MAX, "%s/.cache/hpctoolkit-lite", home);
	return n > 0 && n < PATH_MAX;
}

bool structure_cache_is_writable(const char *dir)
{
	char path[PATH_MAX];
	struct stat st;
	if ((size_t)snprintf(path, sizeof path, "%s", dir) >= sizeof path)
		return false;
	while (stat(path, &st) != 0) {
		if (errno != ENOENT)
			return false;
		char *slash = strrchr(path, '/');
		if (!slash)
			snprintf(path, sizeof path, ".");
		else
			slash[slash == path] = '\0'; /* "/x" leaves "/" */
	}
	struct statvfs fs;
	bool has_room =
		statvfs(path, &fs) != 0 || (uint64_t)fs.f_bavail * fs.f_frsize >= LEAST_ROOM;
	return S_ISDIR(st.st_mode) && access(path, W_OK | X_OK) == 0 && has_room;
}

uint64_t structure_cache_limit(void)
{
	static const char units[] = "KMGT";
	const char *text = getenv("HPCTOOLKIT_LITE_CACHE_SIZE");
	if (!text || !*text)
		return DEFAULT_LIMIT;
	char *end;
	errno = 0;
	uint64_t n = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : (end = NULL, 0);
	const char *unit = end && *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	bool ok = end && errno == 0 && (unit ? end[1] : *end) == '\0' && n <= UINT64_MAX >> shift;
	if (!ok)
		log_warn(NULL,
			 "HPCTOOLKIT_LITE_CACHE_SIZE is '%s', which is no size like 500M or 2G; 2 "
			 "GiB is taken",
			 text);
	return ok ? n << shift : DEFAULT_LIMIT;
}

/* ---- its contents ---- */

/* True for <key>-<fingerprint>.hpcstruct, and for a draft, whose name goes on with .XXXXXX. */
static bool is_ours(const char *name, bool *is_draft)
{
	size_t n = strspn(name, HEX "x"), suffix = strlen(STRUCTURE_SUFFIX);
	if (n == 0 || name[n] != '-' || strspn(name + n + 1, HEX) != FINGERPRINT_DIGITS)
		return false;
	const char *at = name + n + 1 + FINGERPRINT_DIGITS;
	if (strncmp(at, STRUCTURE_SUFFIX, suffix) != 0)
		return false;
	*is_draft = at[suffix] == '.' && strlen(at + suffix) == DRAFT_SUFFIX_BYTES;
	return at[suffix] == '\0' || *is_draft;
}

static int compare_names(const void *a, const void *b)
{
	const struct structure_cache_entry *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int compare_uses(const void *a, const void *b)
{
	const struct structure_cache_entry *x = a, *y = b;
	return x->used_ns != y->used_ns ? (x->used_ns < y->used_ns ? -1 : 1) : compare_names(a, b);
}

static enum status add_entry(struct structure_cache *cache, int fd, const char *name)
{
	struct stat st;
	bool is_draft;
	if (!is_ours(name, &is_draft) || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		!S_ISREG(st.st_mode))
		return STATUS_OK; /* or another process has just removed it */
	char *copy = strdup(name);
	struct structure_cache_entry *e = copy ? vec_push(&cache->entries) : NULL;
	if (!e) {
		free(copy);
		return STATUS_NO_MEMORY;
	}
	*e = (struct structure_cache_entry){
		.name = copy,
		.n_bytes = (uint64_t)st.st_size,
		.used_ns = (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec,
		.owner = st.st_uid,
		.is_draft = is_draft,
	};
	return STATUS_OK;
}

enum status structure_cache_list(const char *dir, struct structure_cache *cache)
{
	memset(cache, 0, sizeof *cache);
	snprintf(cache->dir, sizeof cache->dir, "%s", dir);
	DIR *d = opendir(dir);
	if (!d && errno == ENOENT)
		return STATUS_OK;
	if (!d)
		return STATUS_IO;
	enum status status = STATUS_OK;
	for (const struct dirent *e; status == STATUS_OK && (e = readdir(d));)
		status = add_entry(cache, dirfd(d), e->d_name);
	closedir(d);
	if (status != STATUS_OK) {
		log_error(dir, "out of memory");
		structure_cache_free(cache);
	} else if (cache->entries.n > 1) {
		qsort(cache->entries.at, cache->entries.n, sizeof *cache->entries.at,
			compare_names);
	}
	return status;
}

void structure_cache_free(struct structure_cache *cache)
{
	for (size_t i = 0; i < cache->entries.n; i++)
		free(cache->entries.at[i].name);
	vec_free(&cache->entries);
}

uint64_t structure_cache_bytes(const struct structure_cache *cache)
{
	uint64_t n = 0;
	for (size_t i = 0; i < cache->entries.n; i++)
		n += cache->entries.at[i].n_bytes;
	return n;
}

/* ---- files ---- */

static bool name_path(char path[PATH_MAX], const char *dir, const char *key, uint64_t number)
{
	return snprintf(path, PATH_MAX, "%s/%s-%016llx" STRUCTURE_SUFFIX, dir, key,
			(unsigned long long)number) < PATH_MAX;
}

static bool is_taken(const char *path, const char *binary)
{
	struct stat st;
	return lstat(path, &st) == 0 &&
	       !(S_ISREG(st.st_mode) && inside_trusts(st.st_uid, binary));
}

/* Finds the file for which find_other_name() made a name earlier. */
static bool find_own(char path[PATH_MAX], const char *dir, const char *key, uint64_t fingerprint)
{
	char end[FINGERPRINT_DIGITS / 2 + 1];
	struct structure_cache cache;
	const size_t n_key = strlen(key);
	bool found = false;
	snprintf(end, sizeof end, "%08x", (unsigned)(uint32_t)fingerprint);
	if (structure_cache_list(dir, &cache) != STATUS_OK)
		return false;
	for (size_t i = 0; i < cache.entries.n && !found; i++) {
		const struct structure_cache_entry *e = &cache.entries.at[i];
		found = !e->is_draft && e->owner == geteuid() &&
			strncmp(e->name, key, n_key) == 0 && e->name[n_key] == '-' &&
			strncmp(e->name + n_key + 1 + FINGERPRINT_DIGITS / 2, end,
				FINGERPRINT_DIGITS / 2) == 0 &&
			snprintf(path, PATH_MAX, "%s/%s", dir, e->name) < PATH_MAX;
	}
	structure_cache_free(&cache);
	return found;
}

/* Makes a name that nobody can take before us, because half of its number is random. */
static void find_other_name(char path[PATH_MAX], const char *dir, const char *key,
			    uint64_t fingerprint)
{
	enum { TRIES = 16 };
	struct stat st;
	if (find_own(path, dir, key, fingerprint))
		return;
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t random;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			break;
		if (!name_path(path, dir, key, (uint64_t)random << 32 | (uint32_t)fingerprint))
			break;
		if (lstat(path, &st) != 0)
			return;
	}
	path[0] = '\0';
}

void structure_cache_path(char path[PATH_MAX], const char *dir, const char *key,
			  uint64_t fingerprint, const char *binary)
{
	if (!name_path(path, dir, key, fingerprint))
		path[0] = '\0';
	else if (is_taken(path, binary))
		find_other_name(path, dir, key, fingerprint);
}

static bool entry_path(char path[PATH_MAX], const char *dir, const struct structure_cache_entry *e)
{
	return snprintf(path, PATH_MAX, "%s/%s", dir, e->name) < PATH_MAX;
}

/* Rates what a file contains: 2 for lines, plus 1 if it is complete. */
static unsigned quality(const char *path)
{
	struct structure_header h;
	struct stat st;
	int fd = inside_open(path, 1, &st);
	bool sound = fd >= 0 && read(fd, &h, sizeof h) == (ssize_t)sizeof h &&
		memcmp(h.magic, STRUCTURE_MAGIC, sizeof h.magic) == 0 &&
		h.version_major == STRUCTURE_VERSION_MAJOR;
	if (fd >= 0)
		close(fd);
	return sound ? (h.flags & STRUCTURE_FLAG_LINES ? 2u : 0u) +
			(h.flags & STRUCTURE_FLAG_INCOMPLETE ? 0u : 1u)
		     : 0;
}

struct candidate {
	const struct structure_cache_entry *entry;
	unsigned quality;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	return x->quality != y->quality ? (x->quality > y->quality ? -1 : 1)
					: compare_uses(y->entry, x->entry);
}

bool structure_cache_find(const struct structure_cache *cache, const char *key, const char *binary,
			  size_t n, char path[PATH_MAX])
{
	enum { MOST = 64 }; /* analyses of one binary; we ignore more */
	struct candidate candidates[MOST];
	size_t n_key = strlen(key), n_found = 0;
	size_t first = sorted_prefix(cache->entries.n, i,
				     strncmp(cache->entries.at[i].name, key, n_key) < 0);
	for (size_t i = first; i < cache->entries.n && n_found < MOST; i++) {
		const struct structure_cache_entry *e = &cache->entries.at[i];
		if (strncmp(e->name, key, n_key) != 0)
			break;
		if (!e->is_draft && e->name[n_key] == '-' &&
		    inside_trusts(e->owner, binary))
			candidates[n_found++] = (struct candidate){e, 0};
	}
	if (n >= n_found)
		return false;
	for (size_t i = 0; i < n_found && n_found > 1; i++)
		candidates[i].quality = entry_path(path, cache->dir, candidates[i].entry)
			? quality(path)
			: 0;
	qsort(candidates, n_found, sizeof *candidates, compare_candidates);
	return entry_path(path, cache->dir, candidates[n].entry);
}

void structure_cache_touch(const char *path)
{
	/* fails for another user's cache, which stays unchanged */
	utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- its limit ---- */

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

size_t structure_cache_evict(const char *dir, uint64_t limit)
{
	struct structure_cache cache;
	if (structure_cache_list(dir, &cache) != STATUS_OK)
		return 0;
	uint64_t n_bytes = structure_cache_bytes(&cache), now = now_ns();
	size_t n_removed = 0;
	if (cache.entries.n > 1)
		qsort(cache.entries.at, cache.entries.n, sizeof *cache.entries.at, compare_uses);
	for (size_t i = 0; i < cache.entries.n; i++) {
		const struct structure_cache_entry *e = &cache.entries.at[i];
		uint64_t age_ns = now > e->used_ns ? now - e->used_ns : 0;
		char path[PATH_MAX];
		bool goes = e->is_draft ? age_ns > OLD_DRAFT_NS
					: n_bytes > limit && age_ns > IN_USE_NS;
		if (!goes || !entry_path(path, dir, e) || (unlink(path) != 0 && errno != ENOENT))
			continue;
		n_bytes -= e->n_bytes;
		n_removed++;
	}
	structure_cache_free(&cache);
	return n_removed;
}

size_t structure_cache_clear(const char *dir, size_t *n_failed)
{
	struct structure_cache cache;
	size_t n_removed = 0;
	*n_failed = 0;
	if (structure_cache_list(dir, &cache) != STATUS_OK) {
		log_error(dir, "cannot be read: %s", strerror(errno));
		*n_failed = 1;
		return 0;
	}
	for (size_t i = 0; i < cache.entries.n; i++) {
		char path[PATH_MAX];
		if (!entry_path(path, dir, &cache.entries.at[i]))
			continue;
		if (unlink(path) == 0) {
			n_removed++;
		} else if (errno != ENOENT) {
			log_error(path, "cannot be removed: %s", strerror(errno));
			++*n_failed;
		}
	}
	structure_cache_free(&cache);
	return n_removed;
}
