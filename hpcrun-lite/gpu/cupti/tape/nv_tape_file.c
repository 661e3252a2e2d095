/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a recording: a shared mapping that grows in steps. Each thread gets chunks of it.
 * Space is reserved first, so that a full disk ends the recording and not the program. Committed
 * events are in the file whatever happens to the process. No descriptor stays open. It never raises
 * SIGXFSZ or SIGBUS and never writes in a forked child. Test: tests/cli/gpu/replay.sh.
 */
#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define STEP_BYTES (UINT64_C(1) << 20)
#define LARGE_STEP_BYTES (UINT64_C(4) << 20) /* used once the file has MANY_BYTES */
#define MANY_BYTES (UINT64_C(8) << 20)
#define FIRST_CHUNK_BYTES 4096u
#define LAST_CHUNK_BYTES (256u << 10)
#define PAGE 4096u
#define THREADS_BYTES (64u << 10)
#define MAX_STRINGS ((size_t)1 << 20)

static struct {
	_Atomic bool on;
	_Atomic uint64_t order;
	char path[PATH_MAX];
	uint64_t device, inode;
	uint64_t max_bytes;
	struct recording_header *header;
	struct nv_map strings;           /* pointer -> hash of the text that was there */
	pthread_mutex_t lock;            /* protects the fields below */
	uint8_t *at, *end;               /* the unused part of the last step */
	uint64_t offset;                 /* of `at` in the file */
	uint64_t size;
	struct tape_thread *free, *fresh, *fresh_end;
	uint32_t n_streams;
} tape;

static __thread struct tape_thread *mine __attribute__((tls_model("initial-exec")));

bool tape_is_on(void)
{
	return atomic_load_explicit(&tape.on, memory_order_relaxed) && nv_is_here();
}

uint64_t tape_order(void)
{
	return 1 + atomic_fetch_add_explicit(&tape.order, 1, memory_order_relaxed);
}

static void count_lost(void)
{
	uint64_t none = 0;
	atomic_fetch_add_explicit(&tape.header->n_lost, 1, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&tape.header->lost_ns, &none, clock_mono_ns(),
						memory_order_relaxed, memory_order_relaxed);
}

void tape_stop(const char *why)
{
	char line[256];
	struct text t = text_in(line, sizeof line);
	count_lost();
	if (!atomic_exchange_explicit(&tape.on, false, memory_order_relaxed))
		return;
	text_put(&t, "gpu=nvidia: the recording ends here: ");
	text_put(&t, why);
	nv.host->note(nv.host, line);
}

/* ---- space ---- */

static const char *const no_space = "the disk is full";

/*
 * Opens the file again each time, so that programs that close or count all descriptors do not find
 * ours.
 */
static int open_file(void)
{
	struct stat st;
	int fd = sys_open(tape.path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (sys_call3(SYS_fstat, fd, (long)&st, 0) == 0 &&
	    (!tape.inode || (st.st_dev == tape.device && st.st_ino == tape.inode))) {
		tape.device = st.st_dev;
		tape.inode = st.st_ino;
		return fd;
	}
	sys_close(fd);
	return -1;
}

static bool write_zeros(int fd, uint64_t from, uint64_t n)
{
	static const uint8_t zeros[PAGE];
	for (; n >= PAGE; n -= PAGE, from += PAGE)
		if (sys_pwrite(fd, zeros, PAGE, from) != PAGE)
			return false;
	return true;
}

/* Reserves space in the file. Writes zeros on file systems without fallocate. */
static bool reserve(int fd, uint64_t from, uint64_t n)
{
	struct rlimit limit;
	if (sys_call4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && from + n > limit.rlim_cur)
		return false;
	int r = sys_fallocate(fd, 0, from, n);
	return r == 0 || ((r == -EOPNOTSUPP || r == -ENOSYS) && write_zeros(fd, from, n));
}

static uint8_t *add_step(uint64_t n, const char **why)
{
	*why = "it has reached its size limit (gpu=nvidia,record=SIZE sets another)";
	if (tape.size + n > tape.max_bytes)
		return NULL;
	*why = "its file cannot be opened again";
	int fd = open_file();
	if (fd < 0)
		return NULL;
	*why = no_space;
	long got = reserve(fd, tape.size, n)
			   ? sys_mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, tape.size)
			   : -ENOSPC;
	sys_close(fd);
	return sys_is_error(got) ? NULL : (uint8_t *)got;
}

/*
 * Ensures that n bytes are available, by a new step if needed. The rest of the old step stays zero.
 * The caller holds the lock.
 */
static bool need(uint64_t n, const char **why)
{
	if ((uint64_t)(tape.end - tape.at) >= n)
		return true;
	uint64_t usual = tape.size < MANY_BYTES ? STEP_BYTES : LARGE_STEP_BYTES,
		 left = tape.max_bytes - tape.size;
	usual = usual > left && left >= n ? left - left % PAGE : usual;
	uint64_t step = recording_round(n > usual ? n : usual, PAGE);
	uint8_t *base = add_step(step, why);
	if (!base)
		return false;
	tape.offset = tape.size;
	tape.at = base;
	tape.end = base + step;
	tape.size += step;
	return true;
}

static uint64_t used(const struct recording_chunk *c)
{
	return atomic_load_explicit(&c->used, memory_order_relaxed);
}

/*
 * Gives back the unused part of a thread's chunk if no chunk was taken since. The caller holds the
 * lock.
 */
static void give_tail(struct recording_chunk *c)
{
	if (!c || (uint8_t *)c + c->length != tape.at)
		return;
	uint64_t kept = recording_round(sizeof *c + used(c), RECORDING_CHUNK_ALIGN),
		 rest = c->length - kept;
	c->length = kept;
	tape.at -= rest;
	tape.offset -= rest;
}

/*
 * Takes a chunk of n bytes, or the rest of the last step if that has at least `least` bytes and is
 * not tiny.
 */
static struct recording_chunk *take_chunk(struct tape_thread *t, uint64_t n, uint64_t least,
					  const char **why)
{
	struct recording_chunk *c = NULL;
	pthread_mutex_lock(&tape.lock);
	give_tail(t->chunk);
	uint64_t left = (uint64_t)(tape.end - tape.at);
	n = left < n && left >= least && left >= FIRST_CHUNK_BYTES ? left : n;
	if (need(n, why)) {
		c = (struct recording_chunk *)tape.at;
		tape.at += n;
		tape.offset += n;
		*c = (struct recording_chunk){
			.stream = t->stream, .sequence = t->sequence++, .length = n};
		atomic_store_explicit(&tape.header->allocated, tape.offset, memory_order_relaxed);
		/*
		 * release: a reader that sees the magic number sees the head; a kill before it
		 * leaves a gap
		 */
		atomic_thread_fence(memory_order_release);
		*(volatile uint32_t *)&c->magic = RECORDING_CHUNK_MAGIC;
	}
	pthread_mutex_unlock(&tape.lock);
	return c;
}

/* Drops the pages of a full chunk from memory, because we do not read it again. */
static void drop(struct recording_chunk *c)
{
	uintptr_t from = ((uintptr_t)c + PAGE - 1) & ~(uintptr_t)(PAGE - 1),
		  to = ((uintptr_t)c + c->length) & ~(uintptr_t)(PAGE - 1);
	if (to > from)
		sys_madvise((void *)from, to - from, MADV_DONTNEED);
}

static bool have_room(struct tape_thread *t, size_t n, const char **why)
{
	if (t->chunk && t->chunk->length - sizeof *t->chunk - used(t->chunk) >= n)
		return true;
	uint64_t least = recording_round(sizeof *t->chunk + n, RECORDING_CHUNK_ALIGN);
	/*
	 * A large event, such as a buffer of records, gets a chunk of its own. A second one would
	 * not fit into the same chunk, and only a few small events come in between.
	 */
	bool is_large = least > t->next_bytes / 2;
	struct recording_chunk *c = take_chunk(t, is_large ? least : t->next_bytes, least, why);
	if (!c)
		return false;
	if (t->chunk)
		drop(t->chunk);
	t->chunk = c;
	if (is_large)
		t->next_bytes = FIRST_CHUNK_BYTES;
	else if (t->next_bytes < LAST_CHUNK_BYTES)
		t->next_bytes *= 2;
	return true;
}

/* ---- threads ---- */

void nv_tape_thread_ends(void)
{
	struct tape_thread *t = mine;
	mine = NULL;
	if (!t || !nv_is_here()) /* in a forked child the lock may be held for good */
		return;
	pthread_mutex_lock(&tape.lock);
	t->next = tape.free;
	tape.free = t;
	pthread_mutex_unlock(&tape.lock);
}

/* The caller holds the lock. */
static struct tape_thread *take_thread(void)
{
	struct tape_thread *t = tape.free;
	if (t) {
		tape.free = t->next;
		return t;
	}
	if (tape.fresh == tape.fresh_end) {
		long got = sys_mmap(NULL, THREADS_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (sys_is_error(got))
			return NULL;
		tape.fresh = (struct tape_thread *)got;
		tape.fresh_end = tape.fresh + THREADS_BYTES / sizeof *t;
	}
	return tape.fresh++;
}

struct tape_thread *tape_thread(void)
{
	if (mine)
		return mine;
	pthread_mutex_lock(&tape.lock);
	struct tape_thread *t = take_thread();
	if (t)
		*t = (struct tape_thread){.stream = tape.n_streams++,
					  .next_bytes = FIRST_CHUNK_BYTES};
	pthread_mutex_unlock(&tape.lock);
	if (!t) {
		tape_stop("there is no memory for more threads");
		return NULL;
	}
	mine = t;
	struct recording_stream *e = tape_event(RECORDING_STREAM, 0, 0, sizeof *e);
	if (e) {
		e->tid = (uint32_t)sys_gettid();
		tape_commit();
	}
	return t;
}

/* ---- events ---- */

/* Stands for the open event while we make room for it. */
static struct recording_event opening;

void *tape_event(enum recording_type type, unsigned what, uint64_t order, size_t n_bytes)
{
	const char *why = "a signal handler of the program called CUDA while it was written";
	struct tape_thread *t = tape_is_on() ? tape_thread() : NULL;
	size_t n = (size_t)recording_round(n_bytes, 8);
	if (!t)
		return NULL;
	bool is_inside = t->open != NULL; /* then this very thread may hold the lock */
	if (!is_inside)
		t->open = &opening;
	if (is_inside || !have_room(t, n, &why)) {
		tape_stop(why);
		return NULL;
	}
	struct recording_event *e =
		(struct recording_event *)((uint8_t *)(t->chunk + 1) + used(t->chunk));
	t->open = e;
	*e = (struct recording_event){.bytes = (uint32_t)n,
				      .type = (uint16_t)type,
				      .what = (uint16_t)what,
				      .order = order ? order : tape_order(),
				      .time_ns = clock_mono_ns()};
	return e;
}

void tape_commit(void)
{
	struct tape_thread *t = mine;
	uint32_t n = t->open->bytes;
	t->open = NULL;
	/* Release: a reader that sees the new length also sees the event. */
	atomic_store_explicit(&t->chunk->used, used(t->chunk) + n, memory_order_release);
}

static uint64_t hash_of(const char *s)
{
	uint64_t h = fnv64(FNV64_START, s, strlen(s));
	return h ? h : 1;
}

uint64_t tape_string(const char *text)
{
	uint64_t pointer = (uint64_t)(uintptr_t)text, hash = text ? hash_of(text) : 0;
	if (!text || nv_map_get(&tape.strings, pointer) == hash)
		return pointer;
	size_t n = strlen(text) + 1;
	struct recording_string *e = tape_event(RECORDING_STRING, 0, 0, sizeof *e + n);
	if (!e)
		return pointer;
	e->pointer = pointer;
	memcpy(e + 1, text, n);
	tape_commit();
	/* if the map has no memory, the text is written again each time */
	nv_map_put(&tape.strings, pointer, hash);
	return pointer;
}

/* ---- start ---- */

/* "DIR/NAME.hpcrun" becomes "DIR/NAME.hpctape". Returns false if it does not fit. */
static bool name_file(const char *measurement)
{
	static const char suffix[] = ".hpcrun";
	size_t n = strlen(measurement);
	struct text t = text_in(tape.path, sizeof tape.path);
	if (n < sizeof suffix || strcmp(measurement + n - (sizeof suffix - 1), suffix) != 0)
		return false;
	for (size_t i = 0; i < n - (sizeof suffix - 1); i++)
		text_put_char(&t, measurement[i]);
	text_put(&t, RECORDING_SUFFIX);
	return !t.cut;
}

static void put(char *to, size_t room, const char *s)
{
	struct text t = text_in(to, room);
	text_put(&t, s);
}

static void fill_header(struct recording_header *h, const struct gpu_about *about)
{
	const char *slash = strrchr(about->file, '/');
	h->version_major = RECORDING_VERSION_MAJOR;
	h->version_minor = RECORDING_VERSION_MINOR;
	h->header_bytes = RECORDING_HEADER_BYTES;
	h->pid = (uint32_t)nv.pid;
	h->backend_number = about->number;
	h->start_mono_ns = clock_mono_ns();
	h->start_real_ns = clock_ns(CLOCK_REALTIME);
	h->library_version = nv.lib.version;
	h->max_record_bytes = about->max_record_bytes;
	put(h->backend, sizeof h->backend, "nvidia");
	put(h->options, sizeof h->options, nv.host->options(nv.host));
	put(h->measurement, sizeof h->measurement, slash ? slash + 1 : about->file);
	atomic_thread_fence(memory_order_release);
	memcpy(h->magic, RECORDING_MAGIC, sizeof h->magic);
}

bool tape_open(uint64_t max_bytes, const char **why)
{
	struct gpu_about about;
	nv.host->about(nv.host, &about);
	*why = "its file cannot be created beside the measurement file";
	tape.max_bytes = max_bytes;
	int fd = name_file(about.file)
			 ? sys_open(tape.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
			 : -1;
	if (fd < 0)
		return false;
	sys_close(fd);
	pthread_mutex_init(&tape.lock, NULL);
	nv_map_init(&tape.strings, MAX_STRINGS);
	if (!need(RECORDING_HEADER_BYTES, why))
		return false;
	tape.header = (struct recording_header *)tape.at;
	tape.at += RECORDING_HEADER_BYTES;
	tape.offset += RECORDING_HEADER_BYTES;
	fill_header(tape.header, &about);
	atomic_store_explicit(&tape.on, true, memory_order_relaxed);
	return true;
}
