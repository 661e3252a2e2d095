/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcrun-lite/gpu through the table that back ends call, with a run time of its own: what is defined, launched and done is in the file as it was said, equal
 * contents have one id, beyond the bound sums are right, and every loss has its count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/gpu/content.h"
#include "hpcrun-lite/gpu/core.h"
#include "hpcrun-lite/gpu/hash128.h"
#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/lock.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/hpctoolkit-lite-gpu.XXXXXX";
static struct gpu_runtime runtime;
static bool alive = true, ending;
static struct gpu_place place;
static struct gpu_thread thread;
static char last_note[256];
static unsigned n_notes;
static _Atomic unsigned n_begun, n_ended;
static const struct gpu_host *host;

static bool is_alive(void)
{
	return alive;
}
static enum gpu_entry begin_launch(unsigned number, struct gpu_place *p)
{
	(void)number;
	if (ending)
		return GPU_STOPPED;
	n_begun++;
	*p = place;
	return GPU_ENTERED;
}
static uint64_t end_launch(const struct gpu_place *p)
{
	(void)p;
	n_ended++;
	return 5;
}
static void note(const char *text)
{
	n_notes++;
	snprintf(last_note, sizeof last_note, "%s", text);
}
static void nothing(void)
{
}
static void leave_out(unsigned number, const void *text)
{
	(void)number;
	(void)text;
}
static void at_end(unsigned number, void (*fn)(uint64_t))
{
	(void)number;
	(void)fn;
}

static void open_store(uint64_t max_bytes)
{
	const char *cause;
	const struct store_options options = {.directory = directory, .host = "host", .rank = -1, .n_ranks = -1, .pid = 4711, .max_bytes = max_bytes};
	if (!store_open(&options, &cause))
		fail_msg("store_open: %s", cause);
}

static void start(uint64_t max_record_bytes, uint64_t max_bytes)
{
	runtime = (struct gpu_runtime){.directory = directory, .max_record_bytes = max_record_bytes, .is_alive = is_alive, .begin_launch = begin_launch,
		.end_launch = end_launch, .leave_out = leave_out, .at_end = at_end, .note = note, .suspend = nothing, .resume = nothing};
	open_store(max_bytes);
	alive = true;
	ending = false;
	thread = (struct gpu_thread){0};
	place = (struct gpu_place){.thread = 3, .node = 17, .writer = &thread};
	n_notes = 0;
	n_begun = 0;
	n_ended = 0;
	if (gpu_core.runtime)
		gpu_forked();
	else
		gpu_start(&runtime);
	host = gpu_open(1, "second", "a,b");
}

static int setup(void **state)
{
	(void)state;
	start(UINT64_C(1) << 30, 0);
	return 0;
}

static int teardown(void **state)
{
	char path[4352];
	(void)state;
	snprintf(path, sizeof path, "%s", store_path());
	store_forget();
	unlink(path);
	return 0;
}

/* The file as it is now, and as it changes; never unmapped. */
static const uint8_t *map_file(uint64_t *n_bytes)
{
	struct stat st;
	int fd = open(store_path(), O_RDONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	*n_bytes = (uint64_t)st.st_size < store_bytes() ? (uint64_t)st.st_size : store_bytes();
	void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

/* The n-th record of a kind and size (0: any); NULL: there are fewer. */
static const void *record_at(enum msr_kind kind, unsigned record_bytes, uint64_t n, const struct msr_extent **extent)
{
	uint64_t n_bytes;
	const uint8_t *bytes = map_file(&n_bytes);
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan s; (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;) {
		if (s != MSR_SCAN_EXTENT || v.extent->kind != kind || (record_bytes && v.extent->record_bytes != record_bytes))
			continue;
		unsigned stride = v.extent->record_bytes;
		if (extent)
			*extent = v.extent;
		if (!stride)
			return v.content;
		if (n < v.n_bytes / stride)
			return v.content + n * stride;
		n -= v.n_bytes / stride;
	}
	return NULL;
}

static const struct msr_gpu_tally *tally(void)
{
	return gpu_tally(1);
}

static struct gpu_ticket launched(enum msr_gpu_kind kind, uint64_t id)
{
	struct gpu_ticket t;
	const struct gpu_launch l = {.kind = kind, .enter_ns = 1000, .id = id};
	assert_true(host->launch(host, &l, &t));
	return t;
}

/* ---- what is written ---------------------------------------------------------------------------------------------- */

static void launches_and_ops(void **state)
{
	const struct msr_extent *e;
	(void)state;
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0), u = launched(MSR_GPU_COPY, 0);
	assert_int_equal(t.id >> MSR_GPU_BACKEND_SHIFT, 1);
	assert_int_equal(u.id, t.id + 1);
	const struct msr_gpu_launch *l = record_at(MSR_GPU_LAUNCH, 0, 0, &e);
	assert_int_equal(e->thread, 3);
	assert_int_equal((e->first & ~(uint64_t)UINT32_MAX) | l->id_low, t.id);
	assert_int_equal(l->enter_ns, 1000);
	assert_int_equal(l->kind_node, (uint32_t)MSR_GPU_KERNEL << 28 | 17);
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 5000, .end_ns = 6000, .amount = 3, .queue = 2, .shape = 9, .has_waits = true,
		.queued_ns = 4000, .submitted_ns = 4500};
	host->op(host, &t, &op);
	const struct msr_gpu_op *o = record_at(MSR_GPU_OP, MSR_GPU_OP_LONG, 0, NULL);
	assert_int_equal(o->id_kind, msr_gpu_op_make(t.id, MSR_GPU_KERNEL, 0));
	assert_int_equal(o->start_ns, 5000);
	assert_int_equal(o->end_ns, 6000);
	assert_int_equal(o->amount, 3);
	assert_int_equal(o->queue, 2);
	assert_int_equal(o->shape, 9);
	assert_int_equal(o->queued_before_ns, 1000);
	assert_int_equal(o->submitted_before_ns, 500);
	host->op(host, &u, &(struct gpu_op){.kind = MSR_GPU_COPY, .detail = MSR_GPU_COPY_D2H, .start_ns = 7, .end_ns = 9, .amount = 77, .queue = 1});
	o = record_at(MSR_GPU_OP, MSR_GPU_OP_SHORT, 0, NULL);
	assert_int_equal(o->id_kind, msr_gpu_op_make(u.id, MSR_GPU_COPY, MSR_GPU_COPY_D2H));
	assert_int_equal(o->amount, 77);
	struct gpu_ticket w = launched(MSR_GPU_SET, 0);
	host->lost(host, &w, MSR_GPU_LOSS_FAILED);
	o = record_at(MSR_GPU_OP, MSR_GPU_OP_SHORT, 1, NULL);
	assert_int_equal(o->id_kind, msr_gpu_op_make(w.id, MSR_GPU_SET | MSR_GPU_OP_LOST, MSR_GPU_LOSS_FAILED));
	assert_int_equal(tally()->launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(tally()->recorded[MSR_GPU_COPY], 1);
	assert_int_equal(tally()->n_ops, 3);
	assert_int_equal(tally()->lost[MSR_GPU_LOSS_FAILED], 1);
	assert_int_equal(tally()->handler_ns, 15);
	assert_int_equal(n_begun, 3);
	assert_int_equal(n_ended, 3);
	assert_string_equal(tally()->backend, "second");
}

static void waits(void **state)
{
	(void)state;
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0);
	struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = UINT64_C(1) << 40, .end_ns = UINT64_C(1) << 41, .has_waits = true};
	op.queued_ns = op.start_ns - UINT32_MAX + 1;
	op.submitted_ns = op.start_ns;
	host->op(host, &t, &op);
	op.queued_ns = op.start_ns - UINT32_MAX;
	op.submitted_ns = 0;
	host->op(host, &t, &op);
	assert_int_equal(tally()->n_bad_order, 0);
	op.queued_ns = op.start_ns + 1;
	host->op(host, &t, &op);
	assert_int_equal(tally()->n_bad_order, 1);
	host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 2, .end_ns = 1});
	assert_int_equal(tally()->n_bad_order, 2);
	const struct msr_gpu_op *o = record_at(MSR_GPU_OP, MSR_GPU_OP_LONG, 0, NULL);
	assert_int_equal(o[0].queued_before_ns, UINT32_MAX - 1);
	assert_int_equal(o[0].submitted_before_ns, 0);
	assert_int_equal(o[1].queued_before_ns, UINT32_MAX);
	assert_int_equal(o[1].submitted_before_ns, UINT32_MAX);
	assert_int_equal(o[2].queued_before_ns, 0);
}

static void unmeasured(void **state)
{
	const struct msr_extent *e;
	(void)state;
	place = (struct gpu_place){.thread = UINT32_MAX};
	launched(MSR_GPU_KERNEL, 0);
	const struct msr_gpu_launch *l = record_at(MSR_GPU_LAUNCH, 0, 0, &e);
	assert_int_equal(e->thread, UINT32_MAX);
	assert_int_equal(l->kind_node, (uint32_t)MSR_GPU_KERNEL << 28);
	assert_int_equal(tally()->launch_losses[MSR_GPU_LOSS_NO_PATH], 1);
	assert_int_equal(tally()->recorded[MSR_GPU_KERNEL], 1);
	assert_false(msr_gpu_loss_takes_op(MSR_GPU_LOSS_NO_PATH));
}

/* Ids of more than 32 bits: an extent says the high part once. */
static void epochs(void **state)
{
	const struct msr_extent *e;
	(void)state;
	const uint64_t ids[] = {UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, UINT32_MAX - 1, UINT64_C(5) << 40};
	for (unsigned i = 0; i < 5; i++)
		launched(MSR_GPU_KERNEL, ids[i]);
	uint64_t sum = 0, want = 0;
	for (unsigned i = 0; i < 5; i++) {
		const struct msr_gpu_launch *l = record_at(MSR_GPU_LAUNCH, 0, i, &e);
		sum += (e->first & ~(uint64_t)UINT32_MAX) | l->id_low;
		want += (ids[i] & ((UINT64_C(1) << MSR_GPU_BACKEND_SHIFT) - 1)) | UINT64_C(1) << MSR_GPU_BACKEND_SHIFT;
	}
	assert_int_equal(sum, want);
	assert_null(record_at(MSR_GPU_LAUNCH, 0, 5, NULL));
}

static void widened(void **state)
{
	(void)state;
	const uint64_t turn = UINT64_C(1) << 32;
	_Atomic uint64_t s = 0;
	assert_int_equal(host->widen(host, &s, UINT32_MAX - 5), UINT32_MAX - 5);
	assert_int_equal(host->widen(host, &s, 3), turn + 3);
	assert_int_equal(host->widen(host, &s, UINT32_MAX), UINT32_MAX);       /* late */
	assert_int_equal(host->widen(host, &s, 0x7ffffff0u), turn + 0x7ffffff0u);
	assert_int_equal(host->widen(host, &s, 4), turn + 4);
	assert_int_equal(host->widen(host, &s, 0xfffffff0u), turn + 0xfffffff0u);
	assert_int_equal(host->widen(host, &s, 1), 2 * turn + 1);
	assert_int_equal(host->widen(host, &s, UINT32_MAX), 2 * turn - 1);
	/* Ids that jitter by a million over ten turns. */
	uint64_t n = 0;
	atomic_store(&s, 0);
	srand(1);
	for (uint64_t truth = 1000000; truth < 10 * turn; truth += 3000017) {
		uint64_t late = truth - (uint64_t)(rand() % 1000000);
		assert_int_equal(host->widen(host, &s, (uint32_t)late), late);
		n++;
	}
	assert_true(n > 10000);
}

/* ---- definitions ------------------------------------------------------------------------------------------------------ */

static void definitions(void **state)
{
	(void)state;
	const struct gpu_device d = {.name = "d", .driver = "v", .n_units = 4, .memory_bytes = UINT64_C(1) << 40, .uuid = {1, 2}, .type = MSR_GPU_DEVICE_GPU};
	assert_int_equal(host->device(host, &d), 1);
	assert_int_equal(host->device(host, &d), 2);
	assert_int_equal(host->context(host, &(struct gpu_context){.device = 2}), 1);
	assert_int_equal(host->queue(host, &(struct gpu_queue){.name = "q", .context = 1, .device = 2, .clock = 1, .flags = MSR_GPU_QUEUE_OUT_OF_ORDER}), 1);
	assert_int_equal(host->clock(host), 1);
	host->clock_pair(host, 1, 10, 20, 3);
	host->stall(host, 7, "stall_x", "waits", 1, MSR_GPU_STALL_ISSUED);
	assert_int_equal(host->counter(host, "c", "counts", MSR_UNIT_BYTES), 1);
	const struct msr_gpu_def_device *r = record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_int_equal(r->head.type, MSR_GPU_DEF_DEVICE);
	assert_int_equal(r->head.bytes % 8, 0);
	assert_int_equal(r->head.id, 1);
	assert_int_equal(r->head.name_bytes, 2);
	assert_int_equal(r->head.more_bytes, 2);
	assert_string_equal((const char *)(r + 1), "d");
	assert_string_equal((const char *)(r + 1) + 2, "v");
	assert_int_equal(r->memory_bytes, UINT64_C(1) << 40);
	assert_int_equal(r->uuid[1], 2);
	const struct msr_gpu_def_context *c = (const void *)((const uint8_t *)r + 2 * r->head.bytes);
	assert_int_equal(c->head.type, MSR_GPU_DEF_CONTEXT);
	assert_int_equal(c->head.name_bytes, 1);
	assert_int_equal(c->head.more_bytes, 0);
	assert_int_equal(c->device, 2);
	const struct msr_gpu_def_queue *q = (const void *)((const uint8_t *)c + c->head.bytes);
	assert_int_equal(q->head.type, MSR_GPU_DEF_QUEUE);
	assert_int_equal(q->flags, MSR_GPU_QUEUE_OUT_OF_ORDER);
	const struct msr_gpu_def_stall *s = (const void *)((const uint8_t *)q + q->head.bytes);
	assert_int_equal(s->head.type, MSR_GPU_DEF_STALL);
	assert_int_equal(s->head.id, 8);
	const struct msr_gpu_clock *p = record_at(MSR_GPU_CLOCK, 0, 0, NULL);
	assert_int_equal(p->device_ns, 10);
	assert_int_equal(p->mono_ns, 20);
	assert_int_equal(p->error_ns, 3);
}

static void interned(void **state)
{
	uint64_t h[2], g[2];
	static char long_name[100000];
	(void)state;
	struct gpu_code c = {.kind = MSR_GPU_CODE_OPENCL_C, .bytes = "source", .n_bytes = 6, .options = "-O2"};
	uint32_t a = host->code(host, &c, h);
	assert_int_equal(a, 1);
	assert_int_equal(host->code(host, &c, g), a);
	assert_memory_equal(h, g, sizeof h);
	c.options = NULL;
	assert_int_equal(host->code(host, &c, g), 2);
	c.options = "";
	assert_int_equal(host->code(host, &c, g), 2);
	c.kind = MSR_GPU_CODE_OTHER;
	assert_int_equal(host->code(host, &c, g), 3);
	c.bytes = "sourcf";
	assert_int_equal(host->code(host, &c, g), 4);
	assert_true(h[0] != g[0] && h[1] != g[1]);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 1, .name = "f"}), 1);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 1, .name = "f", .source_name = ""}), 1);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 1, .name = "f", .source_name = "F"}), 2);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 2, .name = "f"}), 3);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 2, .name = "ff"}), 4);
	memset(long_name, 'x', sizeof long_name - 1);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 2, .name = long_name}), 5);
	assert_int_equal(host->function(host, &(struct gpu_function){.code = 2, .name = long_name}), 5);
	struct gpu_shape s = {.function = 1, .grid = {1, 2, 3}, .block = {32, 1, 1}, .global = {0, 0, 7}};
	assert_int_equal(host->shape(host, &s), 1);
	assert_int_equal(host->shape(host, &s), 1);
	s.global[2] = 8;
	assert_int_equal(host->shape(host, &s), 2);
	const struct msr_gpu_shape *r = record_at(MSR_GPU_SHAPE, 0, 1, NULL);
	assert_int_equal(r->id, 2);
	assert_int_equal(r->global[2], 8);
	assert_int_equal(r->grid[1], 2);
	assert_null(record_at(MSR_GPU_SHAPE, 0, 2, NULL));
}

/* A program that never launches the same shape twice: beyond a bound only the function is told. */
static void endless_shapes(void **state)
{
	(void)state;
	uint32_t last = 0;
	for (unsigned i = 0; i < (1u << 18) + 1000; i++)
		last = host->shape(host, &(struct gpu_shape){.function = 1 + i % 2, .grid = {1 + i, 1, 1}});
	assert_int_equal(last, (1u << 18) + 2);
	assert_int_equal(host->shape(host, &(struct gpu_shape){.function = 1, .grid = {77, 1, 1}}), 77);
	assert_int_equal(tally()->n_lost_definitions, 0);
}

static void *intern_many(void *sum)
{
	uint64_t h[2];
	for (unsigned i = 0; i < 2000; i++) {
		char text[32];
		snprintf(text, sizeof text, "content %u", i);
		*(uint64_t *)sum += host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_PTX, .bytes = text, .n_bytes = strlen(text)}, h);
		*(uint64_t *)sum += host->shape(host, &(struct gpu_shape){.function = 1 + i});
	}
	return NULL;
}

static void interned_by_threads(void **state)
{
	pthread_t t[4];
	uint64_t sum[4] = {0};
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, intern_many, &sum[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sum[i], 2 * (2000 * 2001 / 2)); /* ids 1 to 2000, each once, whoever was first */
	assert_null(record_at(MSR_GPU_SHAPE, 0, 2000, NULL));
}

/* ---- contents ------------------------------------------------------------------------------------------------------------ */

static void contents(void **state)
{
	char path[300], text[64] = "";
	uint64_t h[2];
	struct stat st;
	(void)state;
	host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "hello", .n_bytes = 5}, h);
	snprintf(path, sizeof path, "%s/gpubins/cbd8a7b341bd9b025b1e906a48ae1d19.gpubin", directory);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fread(text, 1, sizeof text, in), 5);
	fclose(in);
	assert_string_equal(text, "hello");
	const struct msr_gpu_def_code *r = record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_string_equal((const char *)(r + 1), "cbd8a7b341bd9b025b1e906a48ae1d19.gpubin");
	assert_int_equal(r->content_bytes, 5);
	assert_int_equal(r->hash[0], UINT64_C(0xcbd8a7b341bd9b02));
	/* Again in another process of the run: the file stays what it is. */
	stat(path, &st);
	ino_t inode = st.st_ino;
	gpu_forked();
	launched(MSR_GPU_KERNEL, 0);
	host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "hello", .n_bytes = 5}, h);
	stat(path, &st);
	assert_int_equal(st.st_ino, inode);
	unlink(path);
	/* Only the hash is known; built in. */
	uint64_t known[2] = {1, 2};
	assert_int_equal(host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .n_bytes = 9}, known), 2);
	assert_int_equal(known[1], 2);
	assert_int_equal(host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_BUILTIN, .bytes = "x", .n_bytes = 1}, h), 3);
	assert_int_equal(tally()->n_lost_contents, 0);
}

/* Ranks that save the same at once: one whole file, nothing left beside it. */
static void contents_by_processes(void **state)
{
	static uint8_t big[3 << 20];
	char command[800], folder[200], name[CONTENT_NAME_BYTES];
	uint64_t h[2];
	pid_t child[4];
	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (uint8_t)(i * 31 >> 5);
	hash128(big, sizeof big, 0, h);
	snprintf(folder, sizeof folder, "%s/ranks", directory);
	assert_int_equal(mkdir(folder, 0777), 0);
	for (unsigned i = 0; i < 4; i++)
		if ((child[i] = fork()) == 0) {
			bool good = true;
			for (unsigned j = 0; j < 5; j++) {
				h[1] = j;
				good = content_save(folder, h, ".bin", big, sizeof big, name) && good;
			}
			_exit(!good);
		}
	for (unsigned i = 0; i < 4; i++) {
		int status;
		waitpid(child[i], &status, 0);
		assert_int_equal(status, 0);
	}
	snprintf(command, sizeof command, "cd %s/gpubins && test $(ls -A | wc -l) = 5 && cmp -s *0.bin *4.bin && test $(cat *4.bin | wc -c) = %zu", folder, sizeof big);
	assert_int_equal(system(command), 0);
	/* A file of another size under the name, as a copy that was cut: replaced. */
	snprintf(command, sizeof command, "cd %s/gpubins && for f in *4.bin; do : >$f; done", folder);
	assert_int_equal(system(command), 0);
	h[1] = 4;
	assert_true(content_save(folder, h, ".bin", big, sizeof big, name));
	snprintf(command, sizeof command, "test $(wc -c <%s/gpubins/%s) = %zu", folder, name, sizeof big);
	assert_int_equal(system(command), 0);
}

static void contents_lost(void **state)
{
	struct rlimit limit, old;
	uint64_t h[2];
	static char big[1 << 20];
	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){(1 << 20) - 1, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end the test */
	assert_int_equal(host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = big, .n_bytes = sizeof big}, h), 1);
	setrlimit(RLIMIT_FSIZE, &old);
	const struct msr_gpu_def_code *r = record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_string_equal((const char *)(r + 1), "");
	assert_int_equal(tally()->n_lost_contents, 1);
	assert_int_equal(n_notes, 1);
	runtime.directory = "/nowhere/at/all";
	host->code(host, &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "abc", .n_bytes = 3}, h);
	assert_int_equal(tally()->n_lost_contents, 2);
	assert_int_equal(n_notes, 1); /* said once */
	runtime.directory = directory;
}

/* ---- summed up --------------------------------------------------------------------------------------------------------- */

static const struct msr_gpu_aggregate *row(unsigned kind, unsigned detail, unsigned queue, unsigned shape)
{
	const struct msr_gpu_aggregate *a;
	for (unsigned i = 0; (a = record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		if (a->kind == kind && a->detail == detail && a->queue == queue && a->shape == shape)
			return a;
	return NULL;
}

static void bounded(void **state)
{
	(void)state;
	teardown(NULL);
	start(100000, 0);
	for (unsigned i = 0; i < 100000; i++) {
		struct gpu_ticket t = launched(i % 2 ? MSR_GPU_KERNEL : MSR_GPU_COPY, 0);
		host->op(host, &t, &(struct gpu_op){.kind = (enum msr_gpu_kind)t.kind, .detail = i % 2 ? 0 : 1 + i / 2 % 2, .start_ns = i, .end_ns = i + 10, .amount = 3,
			.queue = 1, .shape = i % 2 ? 5 : 0});
	}
	uint64_t kernels = tally()->aggregated[MSR_GPU_KERNEL], copies = tally()->aggregated[MSR_GPU_COPY];
	assert_int_equal(tally()->recorded[MSR_GPU_KERNEL] + kernels, 50000);
	assert_int_equal(tally()->recorded[MSR_GPU_COPY] + copies, 50000);
	assert_in_range(kernels, 48000, 49900);
	assert_int_equal(tally()->n_ops + kernels + copies, 100000);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_launches, kernels);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_ops, 0);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->n_ops, kernels);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->busy_ns, kernels * 10);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->amount, 0);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->thread, 3);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->node, 17);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 1, 5)->backend, 1);
	assert_int_equal(row(MSR_GPU_COPY, 1, 1, 0)->n_ops + row(MSR_GPU_COPY, 2, 1, 0)->n_ops, copies);
	assert_int_equal(row(MSR_GPU_COPY, 1, 1, 0)->amount, row(MSR_GPU_COPY, 1, 1, 0)->n_ops * 3);
	assert_null(record_at(MSR_GPU_AGGREGATE, 0, 5, NULL));
	assert_in_range(tally()->record_bytes, 100000, 400000);
	assert_true(tally()->aggregate_from_ns > 0);
	assert_int_equal(n_notes, 1);
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0);
	host->lost(host, &t, MSR_GPU_LOSS_NEVER_DONE);
	t = launched(MSR_GPU_KERNEL, 0);
	host->lost(host, &t, MSR_GPU_LOSS_DROPPED);
	assert_int_equal(row(MSR_GPU_KERNEL, 0, 0, 0)->n_lost[2], 1);
	assert_int_equal(tally()->op_losses[MSR_GPU_LOSS_DROPPED], 1);
}

/* Ids alone come back, while all is summed up. */
static void pending(void **state)
{
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 3, .queue = 1, .shape = 1};
	(void)state;
	teardown(NULL);
	runtime.max_record_bytes = 0;
	start(0, 0);
	for (uint64_t id = 1; id <= 1000; id++) {
		place.node = 1 + (uint32_t)(id % 2);
		launched(id == 500 ? MSR_GPU_GRAPH : MSR_GPU_KERNEL, id);
	}
	for (uint64_t id = 1000; id > 0; id--)
		host->op_by_id(host, id, &op);
	host->op_by_id(host, 500, &op); /* a graph has several */
	assert_int_equal(tally()->n_ops, 0);
	uint64_t ops = 0;
	const struct msr_gpu_aggregate *a;
	for (unsigned i = 0; (a = record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		ops += a->n_ops;
	assert_int_equal(ops, 1001);
	/* More in flight than the table holds: the oldest go and are counted once. */
	for (uint64_t id = 2000; id < 2000 + PENDING_SLOTS + 100000; id++)
		launched(MSR_GPU_KERNEL, id);
	uint64_t out = tally()->op_losses[MSR_GPU_LOSS_PENDING];
	assert_in_range(out, 99000, 100010);
	for (uint64_t id = 2000; id < 2000 + PENDING_SLOTS + 100000; id++)
		host->op_by_id(host, id, &op);
	assert_int_equal(tally()->op_losses[MSR_GPU_LOSS_PENDING], out);
	uint64_t all = 0;
	for (unsigned i = 0; (a = record_at(MSR_GPU_AGGREGATE, 0, i, NULL)); i++)
		all += a->n_ops;
	assert_int_equal(all - ops + out + tally()->n_ops, PENDING_SLOTS + 100000);
	assert_int_equal(tally()->n_ops, 0);
	/* By ticket: in flight no more. */
	struct gpu_ticket t = launched(MSR_GPU_ALLOC, UINT64_C(1) << 40);
	host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_ALLOC, .start_ns = 1, .end_ns = 2, .amount = 8});
	struct pending_launch l;
	assert_int_equal(pending_take(&gpu_core.backend[1].pending, t.id, &l), PENDING_GONE);
}

/* ---- losses ---------------------------------------------------------------------------------------------------------------- */

static void file_full(void **state)
{
	uint64_t lost = 0, good = 0;
	(void)state;
	teardown(NULL);
	start(UINT64_C(1) << 30, 1 << 20);
	errno = 77;
	for (unsigned i = 0; i < 100000; i++) {
		struct gpu_ticket t;
		bool there = host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_KERNEL}, &t);
		assert_int_equal(there, t.id != 0);
		host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2});
		good += there;
		lost += !there;
	}
	assert_int_equal(errno, 77);
	assert_int_equal(tally()->recorded[MSR_GPU_KERNEL], good);
	assert_int_equal(tally()->launch_losses[MSR_GPU_LOSS_NO_SPACE], lost);
	assert_int_equal(tally()->n_ops + tally()->op_losses[MSR_GPU_LOSS_NO_SPACE], good);
	assert_in_range(good, 5000, 60000);
	uint32_t function = host->function(host, &(struct gpu_function){.name = "f"});
	assert_int_equal(function, 0);
	assert_int_equal(tally()->n_lost_definitions, 1);
	usleep(20000); /* after a rest space is asked for again: this small record may find some */
	function = host->function(host, &(struct gpu_function){.name = "f"});
	assert_int_equal(function == 0, tally()->n_lost_definitions == 2);
}

/* What comes back by the id of a launch that was lost is no stray. */
static void lost_by_id(void **state)
{
	uint64_t good = 0;
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2};
	(void)state;
	teardown(NULL);
	start(UINT64_C(1) << 30, 1 << 20);
	for (uint64_t id = 1; id <= 100000; id++) {
		struct gpu_ticket t;
		good += host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_KERNEL, .id = id}, &t);
	}
	assert_in_range(good, 10000, 70000);
	for (uint64_t id = 1; id <= 100000; id++)
		host->op_by_id(host, id, &op);
	assert_int_equal(tally()->launch_losses[MSR_GPU_LOSS_NO_SPACE], 100000 - good);
	assert_int_equal(tally()->n_ops + tally()->op_losses[MSR_GPU_LOSS_NO_SPACE], good);
}

static void stopped(void **state)
{
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0), u;
	const struct gpu_op op = {.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2};
	(void)state;
	host->op(host, &t, &op);
	t = launched(MSR_GPU_KERNEL, 0);
	ending = true;
	assert_false(host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	assert_int_equal(u.id, 0);
	gpu_thread_trim(&thread);
	assert_true(gpu_finish());
	assert_int_equal(host->generation(host), 0);
	assert_false(host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	host->op(host, &t, &op);
	host->op(host, &u, &op); /* dropped in silence: counted at its launch */
	assert_int_equal(host->function(host, &(struct gpu_function){.name = "late"}), 0);
	assert_int_equal(tally()->launch_losses[MSR_GPU_LOSS_STOPPED], 2);
	assert_int_equal(tally()->op_losses[MSR_GPU_LOSS_STOPPED], 1);
	gpu_reopen();
	ending = false;
	host->op(host, &t, &op);
	assert_int_equal(tally()->n_ops, 2);
	assert_non_null(record_at(MSR_GPU_OP, 0, 1, NULL));
}

static void other_process(void **state)
{
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0), u;
	uint64_t h[2] = {0, 0};
	(void)state;
	const struct msr_gpu_tally before = *tally();
	alive = false;
	assert_int_equal(host->generation(host), 0);
	assert_false(host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_COPY}, &u));
	host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL});
	host->lost(host, &t, MSR_GPU_LOSS_FAILED);
	host->lost_unknown(host, MSR_GPU_LOSS_DROPPED, 5);
	host->entered(host, "no", NULL);
	assert_int_equal(host->code(host, &(struct gpu_code){.bytes = "hello", .n_bytes = 5}, h), 0);
	assert_int_equal(h[0], UINT64_C(0xcbd8a7b341bd9b02));
	alive = true;
	assert_memory_equal(&before, tally(), sizeof before);
}

static void generations(void **state)
{
	(void)state;
	uint32_t before = host->generation(host);
	host->entered(host, "by the back door, with a reason that is far too long to be kept whole in the file", NULL);
	launched(MSR_GPU_KERNEL, 0);
	host->shape(host, &(struct gpu_shape){.function = 1});
	teardown(NULL);
	open_store(0);
	thread = (struct gpu_thread){0};
	gpu_forked();
	assert_int_equal(host->generation(host), before + 1);
	assert_int_equal(launched(MSR_GPU_KERNEL, 0).id & 0xffffffff, 1);
	assert_int_equal(host->shape(host, &(struct gpu_shape){.function = 2}), 1);
	assert_string_equal(host->options(host), "a,b");
	assert_int_equal(strncmp(tally()->entrance, "by the back door", 16), 0);
	assert_int_equal(strlen(tally()->entrance), sizeof tally()->entrance - 1);
	host->lost_unknown(host, MSR_GPU_LOSS_UNKNOWN_CALL, 3);
	assert_int_equal(tally()->n_unknown_calls, 3);
	assert_int_equal(tally()->op_losses[MSR_GPU_LOSS_UNKNOWN_CALL], 3);
}

static void device_records(void **state)
{
	(void)state;
	const struct gpu_pc_sample s[2] = {{.function = 1, .offset = 0x40, .id = 7, .count = 5, .stall = 3, .queue = 2}, {.function = 1, .offset = 0x50, .count = 6, .queue = 70000}};
	host->pc_sample(host, s, 2);
	const struct msr_gpu_pc *p = record_at(MSR_GPU_PC, 0, 0, NULL);
	assert_int_equal(p[0].offset, 0x40);
	assert_int_equal(p[0].id, UINT64_C(1) << MSR_GPU_BACKEND_SHIFT | 7);
	assert_int_equal(p[0].stall, 4);
	assert_int_equal(p[0].queue_low, 2);
	assert_int_equal(p[1].id, 0);
	assert_int_equal(p[1].queue_low, 0);
	host->pc_range(host, &(struct msr_gpu_pc_range){.total = 9, .recorded = 9});
	assert_int_equal(((const struct msr_gpu_pc_range *)record_at(MSR_GPU_PC_RANGE, 0, 0, NULL))->total, 9);
	host->graph_node(host, 5, 0);
	host->graph_node(host, 6, 5);
	const struct msr_gpu_graph_node *g = record_at(MSR_GPU_GRAPH_NODE, 0, 0, NULL);
	assert_int_equal(g[0].node, 5);
	assert_int_equal(g[0].thread, 3);
	assert_int_equal(g[0].context, 17);
	assert_int_equal(g[0].backend, 1);
	assert_int_equal(g[1].original, 5);
	assert_int_equal(g[1].thread, UINT32_MAX);
	assert_int_equal(g[1].context, 0);
	assert_int_equal(n_begun, 1);
	assert_int_equal(n_ended, 1);
	host->value(host, 7, 2, 1, 99);
	const struct msr_gpu_value *v = record_at(MSR_GPU_VALUE, 0, 0, NULL);
	assert_int_equal(v->value, 99);
	assert_int_equal(v->id, UINT64_C(1) << MSR_GPU_BACKEND_SHIFT | 7);
}

/* ---- the lock ----------------------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static bool try_here(trylock *l)
{
	bool taken = gpu_lock_take(l);
	if (taken)
		gpu_lock_give(l);
	return taken;
}

/* As deep as in a signal handler. */
__attribute__((noinline)) static bool try_deeper(trylock *l)
{
	char frame[2000];
	__asm__ volatile("" : : "r"(frame) : "memory");
	bool taken = try_here(l);
	__asm__ volatile("" : : "r"(frame) : "memory");
	return taken;
}

static void locks(void **state)
{
	static trylock a, b;
	(void)state;
	assert_true(gpu_lock_take(&a));
	assert_false(try_deeper(&b)); /* as in a signal handler: no second lock, and no waiting */
	gpu_lock_give(&a);
	assert_true(try_deeper(&b));
	/* A holder that never comes back: records go elsewhere, and after the first wait nobody waits again. */
	struct gpu_ticket t = launched(MSR_GPU_KERNEL, 0);
	for (unsigned i = 0; i < STREAM_WRITERS; i++)
		trylock_take(&gpu_core.backend[1].short_ops.writer[i].lock);
	for (unsigned i = 0; i < 1000; i++)
		host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2});
	assert_int_equal(tally()->op_losses[MSR_GPU_LOSS_BUSY], 1000);
	host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2, .has_waits = true});
	assert_int_equal(tally()->n_ops, 1);
	assert_false(gpu_finish());
}

static void *launch_and_finish(void *arg)
{
	struct gpu_ticket t;
	(void)arg;
	for (unsigned i = 0; i < 20000; i++) {
		host->launch(host, &(struct gpu_launch){.kind = MSR_GPU_KERNEL, .enter_ns = 1}, &t);
		host->op(host, &t, &(struct gpu_op){.kind = MSR_GPU_KERNEL, .start_ns = 1, .end_ns = 2, .has_waits = i & 1});
	}
	return NULL;
}

/* Threads that are not measured share writers; nothing is lost between them, nor when the end comes. */
static void shared(void **state)
{
	pthread_t t[4];
	(void)state;
	place = (struct gpu_place){.thread = UINT32_MAX};
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, launch_and_finish, NULL), 0);
	usleep(3000);
	assert_true(gpu_finish());
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	const struct msr_gpu_tally *s = tally();
	assert_int_equal(s->launched[MSR_GPU_KERNEL], 80000);
	assert_int_equal(s->recorded[MSR_GPU_KERNEL] + s->launch_losses[MSR_GPU_LOSS_STOPPED], 80000);
	assert_int_equal(s->n_ops + s->op_losses[MSR_GPU_LOSS_STOPPED], s->recorded[MSR_GPU_KERNEL]);
	uint64_t n = s->recorded[MSR_GPU_KERNEL];
	if (n) {
		assert_non_null(record_at(MSR_GPU_LAUNCH, 0, n - 1, NULL));
		assert_null(record_at(MSR_GPU_LAUNCH, 0, n, NULL));
	}
}

/* ---- names -------------------------------------------------------------------------------------------------------------------- */

static void names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++) {
		assert_non_null(msr_gpu_loss_name((enum msr_gpu_loss)i));
		assert_true(strlen(msr_gpu_loss_description((enum msr_gpu_loss)i)) > 5);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(msr_gpu_loss_name((enum msr_gpu_loss)i), msr_gpu_loss_name((enum msr_gpu_loss)j));
	}
	assert_string_equal(msr_gpu_loss_name(MSR_GPU_LOSS_NEVER_DONE), "never-done");
	assert_string_equal(msr_gpu_loss_name((enum msr_gpu_loss)200), "unknown");
	assert_string_equal(msr_gpu_kind_name(MSR_GPU_GRAPH), "graph");
	assert_string_equal(msr_gpu_kind_name((enum msr_gpu_kind)99), "unknown");
	assert_string_equal(msr_gpu_direction_name(MSR_GPU_COPY_MIGRATE), "migrate");
	assert_string_equal(msr_gpu_memory_name(MSR_GPU_MEMORY_IMAGE), "image");
	assert_string_equal(msr_gpu_sync_name(MSR_GPU_SYNC_FLUSH), "flush");
	assert_string_equal(msr_gpu_code_suffix(MSR_GPU_CODE_ELF), ".gpubin");
	assert_string_equal(msr_gpu_code_suffix(4711), ".bin");
}

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", directory);
	return system(command);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(launches_and_ops), TEST(waits), TEST(unmeasured), TEST(epochs), TEST(widened), TEST(definitions), TEST(interned),
		TEST(endless_shapes), TEST(interned_by_threads), TEST(contents), TEST(contents_by_processes), TEST(contents_lost), TEST(bounded), TEST(pending), TEST(file_full), TEST(lost_by_id), TEST(stopped),
		TEST(other_process), TEST(generations), TEST(device_records), TEST(locks), TEST(shared), cmocka_unit_test(names)};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
