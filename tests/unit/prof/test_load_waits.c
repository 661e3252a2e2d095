/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/load/load_waits.c and of attribute/merge/wait_objects.c: sound records
 * come back, damaged ones are refused, names of several files meet, and the time after the last
 * sample goes to its node.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/merge/wait_objects.h"
#include "hpcprof-lite/load/load_waits.h"

#include <stdlib.h>
#include <string.h>

union record {
	struct msr_wait_object head;
	uint8_t bytes[1024];
};

static union record make(uint32_t id, enum msr_wait_object_kind kind, const char *text)
{
	union record r = {.head = {.bytes = sizeof r,
				   .id = id,
				   .kind = (uint32_t)kind,
				   .text_bytes = (uint32_t)strlen(text) + 1}};
	strcpy((char *)r.bytes + sizeof r.head, text);
	return r;
}

/* As from a file of FILE_BYTES. */
enum { FILE_BYTES = 4096 };
static enum status read(struct load_file *f, const union record *r)
{
	f->map.n_bytes = FILE_BYTES;
	enum status s = load_wait_object(f, r->bytes, r->head.bytes);
	f->map.n_bytes = 0;
	return s;
}

static void test_records(void **state)
{
	struct load_file f = {0};
	union record r = make(3, MSR_WAIT_OBJECT_DESCRIPTOR, "file /data/x"), bad;
	(void)state;
	assert_int_equal(read(&f, &r), STATUS_OK);
	assert_int_equal(f.wait_objects.n, 4);
	assert_null(f.wait_objects.at[1].record);
	assert_string_equal(f.wait_objects.at[3].text, "file /data/x");
	assert_int_equal(read(&f, &r), STATUS_BAD_INPUT); /* twice */
	bad = make(0, MSR_WAIT_OBJECT_DESCRIPTOR, "x");
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	bad = make(UINT32_MAX, MSR_WAIT_OBJECT_DESCRIPTOR, "x");
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	/* more than the file has room for */
	bad = make(FILE_BYTES / sizeof bad.head + 1, MSR_WAIT_OBJECT_DESCRIPTOR, "x");
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	assert_int_equal(f.wait_objects.n, 4);
	bad = make(5, MSR_WAIT_OBJECT_DESCRIPTOR, "x");
	bad.head.text_bytes = sizeof bad; /* beyond the record */
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	bad.head.text_bytes = 1; /* no NUL there */
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	bad.head.text_bytes = 0;
	assert_int_equal(read(&f, &bad), STATUS_BAD_INPUT);
	assert_int_equal(load_wait_object(&f, bad.bytes, 16), STATUS_BAD_INPUT);
	load_file_close(&f);
}

/* Two files with other ids for one name. */
static void test_names_meet(void **state)
{
	struct load_job job = {0};
	struct wait_part part = {0};
	struct strtab strings = {0};
	union record a = make(1, MSR_WAIT_OBJECT_DESCRIPTOR, "file /x"),
		     e = make(2, MSR_WAIT_OBJECT_LOCK, ""),
		     b = make(2, MSR_WAIT_OBJECT_DESCRIPTOR, "file /x"),
		     c = make(1, MSR_WAIT_OBJECT_LOCK, ""), d = make(3, MSR_WAIT_OBJECT_LOCK, "");
	(void)state;
	c.head.addr = msr_addr_make(0, 0x4040, false);
	e.head.addr = msr_addr_make(1, 0x4040, false); /* the module of c, and in place 0 another */
	d.head.addr = msr_addr_make(7, 0x4040, false); /* an unknown module */
	for (int i = 0; i < 2; i++)
		memset(vec_push(&job.files), 0, sizeof *job.files.at);
	assert_int_equal(read(&job.files.at[0], &a), STATUS_OK);
	assert_int_equal(read(&job.files.at[0], &e), STATUS_OK);
	assert_int_equal(read(&job.files.at[1], &b), STATUS_OK);
	assert_int_equal(read(&job.files.at[1], &c), STATUS_OK);
	assert_int_equal(read(&job.files.at[1], &d), STATUS_OK);
	static const struct msr_module record;
	struct load_module *module = vec_push(&job.files.at[1].modules);
	*module = (struct load_module){.record = &record, .path = "/usr/lib/liba.so"};
	for (int i = 0; i < 2; i++)
		*vec_push(&job.files.at[0].modules) = (struct load_module){
			.record = &record, .path = i ? "/usr/lib/liba.so" : "/usr/lib/libb.so"};
	assert_true(wait_objects_unify(&part, &job, &strings));
	const struct wait_file *first = wait_objects_of_file(&part, 0),
			       *second = wait_objects_of_file(&part, 1);
	const uint64_t x = wait_objects_translate(first, MSR_WAIT_ON + 1),
		       lock = wait_objects_translate(second, MSR_WAIT_ON + 1);
	assert_int_equal(x, wait_objects_translate(second, MSR_WAIT_ON + 2));
	assert_int_equal(lock, wait_objects_translate(first, MSR_WAIT_ON + 2));
	assert_true(wait_objects_is_lock(lock) && !wait_objects_is_lock(x));
	assert_string_equal(strtab_get(&strings, wait_objects_name(x)), "file /x");
	assert_string_equal(strtab_get(&strings, wait_objects_name(lock)),
			    "at 0x4040 in liba.so");
	assert_int_equal(wait_objects_translate(second, MSR_WAIT_ON + 3), MSR_WAIT_ON);
	/* unknown ids are one; causes stay */
	assert_int_equal(wait_objects_translate(first, MSR_WAIT_ON + 9), MSR_WAIT_ON);
	assert_int_equal(wait_objects_translate(second, MSR_WAIT_ON), MSR_WAIT_ON);
	assert_int_equal(wait_objects_translate(NULL, MSR_WAIT_ON + 1), MSR_WAIT_ON);
	assert_int_equal(wait_objects_translate(first, MSR_WAIT + MSR_WAIT_SLEEP),
			 MSR_WAIT + MSR_WAIT_SLEEP);
	wait_objects_free(&part);
	strtab_free(&strings);
	for (int i = 0; i < 2; i++)
		load_file_close(&job.files.at[i]);
	vec_free(&job.files);
}

/* Paths that differ only at their ends are two objects. */
static void test_long_names(void **state)
{
	struct load_job job = {0};
	struct wait_part part = {0};
	struct strtab strings = {0};
	union record records[2];
	char path[900];
	(void)state;
	memset(path, 'x', sizeof path);
	path[sizeof path - 1] = 0;
	struct load_file *f = vec_push(&job.files);
	for (uint32_t id = 1; id <= 2; id++) {
		path[sizeof path - 2] = (char)('a' + id);
		records[id - 1] = make(id, MSR_WAIT_OBJECT_DESCRIPTOR, path);
		assert_int_equal(read(f, &records[id - 1]), STATUS_OK);
	}
	assert_true(wait_objects_unify(&part, &job, &strings));
	const struct wait_file *w = wait_objects_of_file(&part, 0);
	assert_int_not_equal(wait_objects_translate(w, MSR_WAIT_ON + 1),
			     wait_objects_translate(w, MSR_WAIT_ON + 2));
	wait_objects_free(&part);
	strtab_free(&strings);
	load_file_close(f);
	vec_free(&job.files);
}

static void test_time_after_the_last_sample(void **state)
{
	static const struct msr_metric cputime = {.name = "CPUTIME"}, offcpu = {.name = "OFFCPU"};
	uint32_t node_to[3] = {0, 0, LOAD_DAMAGED};
	struct load_file f = {.metrics = {&cputime, &offcpu}};
	struct msr_thread record = {.number = 0};
	struct load_thread t = {.record = &record, .n_nodes = 3, .node_to = node_to};
	(void)state;
	record.offcpu_unsampled_ns = 1000;
	assert_int_equal(load_unsampled_wait(&f, &t), STATUS_OK);
	assert_int_equal(t.cells.n, 0); /* no node is named */
	record.offcpu_node = 2; /* damaged */
	assert_int_equal(load_unsampled_wait(&f, &t), STATUS_OK);
	record.offcpu_node = 3; /* none */
	assert_int_equal(load_unsampled_wait(&f, &t), STATUS_OK);
	assert_int_equal(t.cells.n, 0);
	record.offcpu_node = 1;
	assert_int_equal(load_unsampled_wait(&f, &t), STATUS_OK);
	assert_int_equal(t.cells.n, 1);
	const struct msr_cell *cell = (const void *)t.cells.at[0].content;
	assert_int_equal(cell->node, 1);
	assert_int_equal(cell->metric, 1);
	assert_int_equal(cell->count, 0);
	assert_int_equal(cell->sum, 1000);
	f.metrics[1] = NULL; /* OFFCPU was not measured */
	assert_int_equal(load_unsampled_wait(&f, &t), STATUS_OK);
	assert_int_equal(t.cells.n, 1);
	vec_free(&t.cells);
	load_file_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_names_meet),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_time_after_the_last_sample),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
