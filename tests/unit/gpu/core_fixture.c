/* SPDX-License-Identifier: BSD-3-Clause */
/* See core_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/gpu/core_fixture.h"

#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct core_fixture fixture = {.alive = true, .directory = "/tmp/hpctoolkit-lite-gpu.XXXXXX"};

static bool is_alive(void)
{
	return fixture.alive;
}
static enum gpu_entry begin_launch(unsigned number, struct gpu_place *p)
{
	(void)number;
	if (fixture.ending)
		return GPU_STOPPED;
	fixture.n_begun++;
	*p = fixture.place;
	return GPU_ENTERED;
}
static uint64_t end_launch(const struct gpu_place *p)
{
	(void)p;
	fixture.n_ended++;
	return 5;
}
static void note(const char *text)
{
	fixture.n_notes++;
	snprintf(fixture.last_note, sizeof fixture.last_note, "%s", text);
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

void core_open_store(uint64_t max_bytes)
{
	const char *cause;
	const struct store_options options = {.directory = fixture.directory,
					      .host = "host",
					      .rank = -1,
					      .n_ranks = -1,
					      .pid = 4711,
					      .max_bytes = max_bytes};
	if (!store_open(&options, &cause))
		fail_msg("store_open: %s", cause);
}

void core_start(uint64_t max_record_bytes, uint64_t max_bytes)
{
	fixture.runtime = (struct gpu_runtime){.directory = fixture.directory,
					       .max_record_bytes = max_record_bytes,
					       .is_alive = is_alive,
					       .is_off = &fixture.is_off,
					       .begin_launch = begin_launch,
					       .end_launch = end_launch,
					       .leave_out = leave_out,
					       .at_end = at_end,
					       .note = note,
					       .suspend = nothing,
					       .resume = nothing};
	core_open_store(max_bytes);
	fixture.alive = true;
	fixture.ending = false;
	fixture.is_off = false;
	fixture.thread = (struct gpu_thread){0};
	fixture.place = (struct gpu_place){.thread = 3, .node = 17, .writer = &fixture.thread};
	fixture.n_notes = 0;
	fixture.n_begun = 0;
	fixture.n_ended = 0;
	if (gpu_core.runtime)
		gpu_forked();
	else
		gpu_start(&fixture.runtime);
	fixture.host = gpu_open(1, "second", "a,b");
}

int core_setup(void **state)
{
	(void)state;
	core_start(UINT64_C(1) << 30, 0);
	return 0;
}

int core_teardown(void **state)
{
	char path[4352];
	(void)state;
	snprintf(path, sizeof path, "%s", store_path());
	store_forget();
	unlink(path);
	return 0;
}

/* The file as it is now, and as it changes; never unmapped. */
static const uint8_t *core_map_file(uint64_t *n_bytes)
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
const void *core_record_at(enum msr_kind kind, unsigned record_bytes, uint64_t n,
			   const struct msr_extent **extent)
{
	uint64_t n_bytes;
	const uint8_t *bytes = core_map_file(&n_bytes);
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;) {
		if (s != MSR_SCAN_EXTENT || v.extent->kind != kind ||
		    (record_bytes && v.extent->record_bytes != record_bytes))
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

const struct msr_gpu_tally *core_tally(void)
{
	static struct msr_gpu_tally sum;
	if (!gpu_tally(1, 0))
		return NULL;
	sum = *gpu_tally(1, 0);
	for (unsigned part = 1; part < GPU_N_TALLIES; part++) {
		const struct msr_gpu_tally *t = gpu_tally(1, part);
		for (size_t i = 0;
		     t && i < (sizeof sum - offsetof(struct msr_gpu_tally, launched)) /
					  sizeof *t->launched;
		     i++)
			(&sum.launched[0])[i] += (&t->launched[0])[i];
	}
	return &sum;
}

struct gpu_ticket core_launched(enum msr_gpu_kind kind, uint64_t id)
{
	struct gpu_ticket t;
	const struct gpu_launch l = {.kind = kind, .enter_ns = 1000, .id = id};
	assert_true(fixture.host->launch(fixture.host, &l, &t));
	return t;
}

int core_make_directory(void **state)
{
	(void)state;
	return mkdtemp(fixture.directory) ? 0 : -1;
}

int core_remove_directory(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", fixture.directory);
	return system(command);
}
