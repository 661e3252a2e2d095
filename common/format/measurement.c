/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encoding and decoding helpers of the measurement file; see measurement.h. No I/O, no allocation.
 * The reader half must stay safe on any bytes. Test: tests/unit/common/test_measurement.c,
 * tests/fuzz/fuzz_measurement.c.
 */
#include "common/format/measurement.h"

#include "common/safe/fnv.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct msr_header) <= MSR_HEADER_BYTES, "header fits its page");
static_assert(sizeof(struct msr_header) <= MSR_BRIEF_HEADER_BYTES &&
		      MSR_BRIEF_HEADER_BYTES + sizeof(struct msr_extent) +
				      sizeof(struct msr_thread) <=
			      MSR_BRIEF_BYTES,
	      "a brief process has room for its thread");
static_assert(offsetof(struct msr_header, losses) == 104, "layout");
static_assert(offsetof(struct msr_header, host) == 360, "layout");
static_assert(sizeof(struct msr_extent) == 64, "layout");
static_assert(sizeof(struct msr_info) == 16, "layout");
static_assert(sizeof(struct msr_metric) == 256, "layout");
static_assert(sizeof(struct msr_module) == 88, "layout");
static_assert(sizeof(struct msr_thread) == 592, "layout");
static_assert(sizeof(struct msr_node) == 16, "layout");
static_assert(sizeof(struct msr_cell) == 32, "layout");
static_assert(sizeof(struct msr_python_code) == 24, "layout");
static_assert(sizeof(struct msr_wait_object) == 24, "layout");
static_assert(sizeof(struct msr_torch_module) == 16, "layout");
static_assert(sizeof(struct msr_phase) == 32, "layout");

uint32_t msr_extent_check(const struct msr_extent *e)
{
	/* magic .. first are contiguous: bytes 0 to 23 */
	return fnv32(FNV32_START, e, offsetof(struct msr_extent, length));
}

static const struct {
	const char *name, *description;
	bool takes_sample;
} loss_table[MSR_N_LOSSES] = {
	[MSR_LOSS_BUSY] = {"busy", "arrived while the thread was inside the profiler", true},
	[MSR_LOSS_NO_SPACE] = {"no-space",
			       "the measurement file could not grow (disk full or quota)", true},
	[MSR_LOSS_FILE_LIMIT] = {"file-limit", "the file size limit (ulimit -f) was reached", true},
	[MSR_LOSS_NO_MEMORY] = {"no-memory", "no memory for the context index", true},
	[MSR_LOSS_NODE_LIMIT] = {"node-limit", "the limit on context nodes was reached", true},
	[MSR_LOSS_NO_THREAD] = {"no-thread",
				"arrived in a thread that was not made by pthread_create", true},
	[MSR_LOSS_TRACE] = {"trace", "in the tree, but without a trace record", false},
	[MSR_LOSS_COALESCED] =
		{"coalesced", "expiries that the kernel merged; their samples have the full weight",
		 false},
	[MSR_LOSS_SOURCE_LOST] = {"source-lost", "the program closed a sample source's descriptor",
				  false},
	[MSR_LOSS_IN_FLIGHT] = {"in-flight",
				"the process was killed while the sample was being recorded", true},
	[MSR_LOSS_FORK] = {"fork", "child processes that could not be measured", false},
	[MSR_LOSS_MODULE_TABLE] = {"module-table", "frames without module: table full or busy",
				   false},
	[MSR_LOSS_THREAD_SETUP] = {"thread-setup", "threads that could not be measured", false},
	[MSR_LOSS_PYTHON] = {"python-frames", "paths with Python frames that could not be read",
			     false},
	[MSR_LOSS_MPI] = {"mpi-calls", "calls of MPI that could not be recorded", false},
	[MSR_LOSS_OMP_SUMS] = {"omp-sums", "OpenMP regions whose times are in no sum", false},
	[MSR_LOSS_OMP_PATHS] = {"omp-paths", "paths in OpenMP regions without the path of the fork",
				false},
	[MSR_LOSS_WAIT_OBJECT] = {"wait-names", "waits without the name of what they waited for",
				  false},
	[MSR_LOSS_BLAME] = {"blame", "threads that ended before their blame had a place", false},
	[MSR_LOSS_NVTX] = {"nvtx-ranges",
			   "ranges and marks of NVTX that could not be recorded", false},
	[MSR_LOSS_NVTX_DETAIL] =
		{"nvtx-details",
		 "names, paths or single times of NVTX ranges that could not be recorded", false},
	[MSR_LOSS_PHASE] = {"phases", "phases of the program that could not be recorded", false},
	[MSR_LOSS_FORWARD] = {"forward-lines",
			      "runs of autograd nodes whose forward line is not known", false},
	[MSR_LOSS_WAIT] = {"waits-cut-short", "system calls that a sample ended with EINTR", false},
	[MSR_LOSS_BINARIES] = {"binaries", "binaries that are gone and could not be kept", false},
	[MSR_LOSS_MEMORY] = {"memory", "sampled allocations that could not be recorded", false},
};

static uint64_t add_capped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

uint64_t msr_thread_cpu_ns(const struct msr_thread *t)
{
	const bool began_earlier = t->number == 0 || t->flags & MSR_THREAD_FOUND;
	if (!t->cpu_end_ns) /* it ended without going through libc */
		return add_capped(add_capped(t->use.event_ns, t->use.timer_ns), t->cpu_unseen_ns);
	const uint64_t before = began_earlier ? t->cpu_start_ns : 0;
	return t->cpu_end_ns > before ? t->cpu_end_ns - before : 0;
}

uint64_t msr_unseen_cpu_ns(const struct msr_thread *t, uint64_t period_ns)
{
	enum { LEAST = 64000000, PERIODS = 8 };
	const uint64_t longest_ns = period_ns > LEAST / PERIODS && period_ns < UINT64_MAX / PERIODS
					    ? PERIODS * period_ns
					    : LEAST,
		       seen_late_ns = t->cpu_unseen_ns, rest_ns = t->cpu_unsampled_ns;
	return rest_ns <= longest_ns ? seen_late_ns : add_capped(seen_late_ns, rest_ns);
}

uint64_t msr_strange_cpu_ns(uint64_t clock_ns, uint64_t threads_ns, uint64_t n_threads)
{
	enum { EDGES = 5000000, EDGES_OF_THREAD = 100000 };
	const uint64_t rest = clock_ns > threads_ns ? clock_ns - threads_ns : 0;
	return rest <= EDGES + EDGES_OF_THREAD * n_threads ? 0 : rest;
}

static void put_hex(char *to, uint8_t byte)
{
	static const char hex[] = "0123456789abcdef";
	to[0] = hex[byte >> 4];
	to[1] = hex[byte & 15];
}

bool msr_kept_name(char name[MSR_KEPT_NAME_BYTES], const uint8_t *build_id, size_t build_id_bytes,
		   uint64_t content)
{
	size_t n = 0;
	for (size_t i = 0; i < build_id_bytes && i < MSR_BUILD_ID_MAX; i++, n += 2)
		put_hex(name + n, build_id[i]);
	if (n == 0 && content) {
		name[n++] = 'c';
		for (unsigned shift = 64; shift > 0; n += 2)
			put_hex(name + n, (uint8_t)(content >> (shift -= 8)));
	}
	name[n] = '\0';
	return n > 0;
}

bool msr_loss_takes_sample(enum msr_loss l)
{
	return l < MSR_N_LOSSES && loss_table[l].takes_sample;
}

const char *msr_loss_name(enum msr_loss l)
{
	return l < MSR_N_LOSSES ? loss_table[l].name : "unknown";
}

const char *msr_loss_description(enum msr_loss l)
{
	return l < MSR_N_LOSSES ? loss_table[l].description : "a cause this version does not know";
}

const char *msr_path_end_name(enum msr_path_end e)
{
	static const char *const names[MSR_N_PATH_ENDS] = {
		[MSR_END_ROOT] = "complete",
		[MSR_END_NO_CFI] = "no unwind information",
		[MSR_END_NO_MODULE] = "code outside every module",
		[MSR_END_UNREADABLE] = "unreadable stack",
		[MSR_END_BAD_CFI] = "damaged unwind information",
		[MSR_END_NO_PROGRESS] = "no progress",
		[MSR_END_TOO_DEEP] = "too deep",
		[MSR_END_THROWING] = "stack being rewritten by a throw",
		[MSR_END_GUESSED] = "root, by way of a guessed frame",
	};
	return e < MSR_N_PATH_ENDS ? names[e] : "unknown cause";
}

const char *msr_unmeasured_name(uint32_t reason)
{
	static const char *const names[MSR_N_UNMEASURED] = {
		[MSR_UNMEASURED_VOID] = "not started",
		[MSR_UNMEASURED_STATIC] = "static executable",
		[MSR_UNMEASURED_SET_UID] = "set-user-ID executable",
		[MSR_UNMEASURED_SET_GID] = "set-group-ID executable",
		[MSR_UNMEASURED_CAPABLE] = "executable with file capabilities",
		[MSR_UNMEASURED_MACHINE] = "executable for another processor",
		[MSR_UNMEASURED_ABI] = "executable of the x32 ABI",
		[MSR_UNMEASURED_LIBC] = "executable of another C library",
		[MSR_UNMEASURED_SANITIZED] = "executable with AddressSanitizer",
		[MSR_UNMEASURED_REACH] = ("another root directory or user, or the measurement was "
					  "removed"),
		[MSR_UNMEASURED_SPAWNED] = "spawned by MPI, and left no measurement",
	};
	return reason < MSR_N_UNMEASURED ? names[reason] : "unknown cause";
}

static bool extent_is_sound(const struct msr_extent *e, uint64_t room)
{
	uint64_t length = atomic_load_explicit(&e->length, memory_order_acquire);
	return e->magic == MSR_EXTENT_MAGIC && e->check == msr_extent_check(e) &&
	       length >= sizeof *e && length % MSR_EXTENT_ALIGN == 0 && room >= sizeof *e;
}

/* Returns the next aligned offset from `pos` that holds a sound header, or n_bytes. */
static uint64_t resync(const uint8_t *bytes, uint64_t n_bytes, uint64_t pos)
{
	for (; pos + sizeof(struct msr_extent) <= n_bytes; pos += MSR_EXTENT_ALIGN) {
		const struct msr_extent *e = (const void *)(bytes + pos);
		/* another process: its extents are not ours */
		if (memcmp(e, MSR_MAGIC, sizeof MSR_MAGIC) == 0) {
			pos += msr_process_bytes((const void *)e) - MSR_EXTENT_ALIGN;
			continue;
		}
		if (e->magic == MSR_EXTENT_MAGIC && extent_is_sound(e, n_bytes - pos))
			return pos;
	}
	return n_bytes;
}

static bool all_zero(const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/*
 * True if the process was killed while it made this extent. The magic, which is written last, is
 * missing, and nothing was published in the extent.
 */
static bool is_unfinished(const uint8_t *at, uint64_t room)
{
	const struct msr_extent *e = (const void *)at;
	uint64_t length = atomic_load_explicit(&e->length, memory_order_acquire);
	return e->magic == 0 && atomic_load_explicit(&e->used, memory_order_acquire) == 0 &&
	       length >= sizeof *e && length % MSR_EXTENT_ALIGN == 0 && length <= room &&
	       all_zero(at + sizeof *e, length - sizeof *e);
}

enum msr_scan msr_next_extent(const uint8_t *bytes, uint64_t n_bytes, uint64_t *pos,
			      struct msr_view *view, uint64_t *skipped)
{
	uint64_t at = *pos;
	if (at >= n_bytes || n_bytes - at < sizeof(struct msr_extent)) {
		bool dirty = at < n_bytes && !all_zero(bytes + at, n_bytes - at);
		*skipped = dirty ? n_bytes - at : 0;
		*pos = n_bytes;
		return dirty ? MSR_SCAN_DAMAGED : MSR_SCAN_END;
	}
	const struct msr_extent *e = (const void *)(bytes + at);
	for (; is_unfinished(bytes + at, n_bytes - at); e = (const void *)(bytes + at)) {
		at += atomic_load_explicit(&e->length, memory_order_acquire);
		if (n_bytes - at < sizeof *e) {
			*pos = n_bytes;
			*skipped = 0;
			return MSR_SCAN_END;
		}
	}
	if (!extent_is_sound(e, n_bytes - at)) {
		uint64_t next = resync(bytes, n_bytes, at + MSR_EXTENT_ALIGN);
		*pos = next;
		/* Reserved space that was never carved into extents is zero and is no damage. */
		if (all_zero(bytes + at, next - at)) {
			*skipped = 0;
			return next == n_bytes
				       ? MSR_SCAN_END
				       : msr_next_extent(bytes, n_bytes, pos, view, skipped);
		}
		*skipped = next - at;
		return MSR_SCAN_DAMAGED;
	}
	uint64_t length = atomic_load_explicit(&e->length, memory_order_acquire);
	uint64_t used = atomic_load_explicit(&e->used, memory_order_acquire);
	uint64_t room = length < n_bytes - at ? length : n_bytes - at;
	room -= sizeof *e;
	view->extent = e;
	view->content = bytes + at + sizeof *e;
	view->clamped = used > room;
	view->n_bytes = used > room ? room : used;
	*pos = length < n_bytes - at ? at + length : n_bytes;
	*skipped = 0;
	return MSR_SCAN_EXTENT;
}

enum msr_header_state msr_check_header(const uint8_t *bytes, uint64_t n_bytes, unsigned *major)
{
	static const uint8_t unwritten[sizeof MSR_MAGIC];
	_Static_assert(sizeof MSR_MAGIC == sizeof((struct msr_header *)0)->magic,
		       "the magic ends in NUL");
	if (n_bytes >= sizeof unwritten && memcmp(bytes, unwritten, sizeof unwritten) == 0)
		return MSR_HEADER_UNWRITTEN;
	if (n_bytes < sizeof(struct msr_header))
		return n_bytes >= 8 && memcmp(bytes, MSR_MAGIC, 8) != 0 ? MSR_HEADER_NOT_OURS
									: MSR_HEADER_SHORT;
	const struct msr_header *h = (const void *)bytes;
	if (memcmp(h->magic, MSR_MAGIC, sizeof h->magic) != 0)
		return MSR_HEADER_NOT_OURS;
	if (h->version_major != MSR_VERSION_MAJOR) {
		*major = h->version_major;
		return MSR_HEADER_OTHER_VERSION;
	}
	return n_bytes < msr_first_extent(h) ? MSR_HEADER_SHORT : MSR_HEADER_SOUND;
}
