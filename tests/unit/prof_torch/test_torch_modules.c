/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules of PyTorch: records, also damaged ones (load_python.c), and names (torch_modules.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hpcprof-lite/attribute/merge/torch_modules.h"
#include "hpcprof-lite/load/load_records.h"

static union {
	struct msr_torch_module head;
	uint8_t bytes[4096];
} records[80];
static unsigned n_records;

/* A record that stays valid. */
static uint8_t *record(uint32_t id, uint32_t parent, const char *name, const char *class)
{
	uint8_t *r = records[n_records].bytes;
	const size_t n_name = strlen(name) + 1, n_class = strlen(class) + 1;
	memset(r, 0, sizeof records[0].bytes);
	records[n_records++].head = (struct msr_torch_module){
		.bytes = (uint32_t)((sizeof(struct msr_torch_module) + n_name + n_class + 7) & ~7u),
		.id = id,
		.parent = parent,
		.name_bytes = (uint16_t)n_name,
		.class_bytes = (uint16_t)n_class};
	memcpy(r + sizeof(struct msr_torch_module), name, n_name);
	memcpy(r + sizeof(struct msr_torch_module) + n_name, class, n_class);
	return r;
}

static enum status load(struct load_file *f, const uint8_t *r)
{
	uint32_t bytes;
	memcpy(&bytes, r, sizeof bytes);
	return load_torch_module(f, r, bytes);
}

static void add(struct load_file *f, uint32_t id, uint32_t parent, const char *name,
		const char *class)
{
	assert_int_equal(load(f, record(id, parent, name, class)), STATUS_OK);
}

static struct load_file empty_file(void)
{
	n_records = 0;
	return (struct load_file){.map = {.n_bytes = 1 << 20}};
}

static void expect(char **names, size_t id, const char *name)
{
	if (name)
		assert_string_equal(names[id], name);
	else
		assert_null(names[id]);
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static void names(void **state)
{
	struct load_file f = empty_file();
	(void)state;
	add(&f, 9, 4, "layers.5", "Block"); /* in another order than their ids */
	add(&f, 2, 0, "", "ResNet");
	add(&f, 4, 2, "encoder", "Encoder");
	add(&f, 11, 9, "conv1", "Conv2d");
	add(&f, 12, 3, "lost", "Linear"); /* its parent is no module */
	char **names = torch_modules_name(&f);
	assert_non_null(names);
	assert_int_equal(f.torch_modules.n, 13);
	expect(names, 2, "ResNet");
	expect(names, 3, NULL);
	expect(names, 4, "encoder (Encoder)");
	expect(names, 9, "encoder.layers.5 (Block)");
	expect(names, 11, "encoder.layers.5.conv1 (Conv2d)");
	expect(names, 12, "lost (Linear)");
	free_names(names, f.torch_modules.n);
	vec_free(&f.torch_modules);
}

/* A chain of damaged records cannot make names of any length. */
static void long_names(void **state)
{
	struct load_file f = empty_file();
	char name[301];
	(void)state;
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (uint32_t id = 1; id <= 60; id++)
		add(&f, id, id - 1, name, "C");
	char **names = torch_modules_name(&f);
	assert_non_null(names);
	for (uint32_t id = 1; id <= 60; id++)
		assert_in_range(strlen(names[id]), 300, 2000);
	free_names(names, f.torch_modules.n);
	vec_free(&f.torch_modules);
}

static void damaged(void **state)
{
	struct load_file f = empty_file();
	struct msr_torch_module *r;
	(void)state;
	add(&f, 5, 1, "a", "A");
	assert_int_equal(load(&f, record(5, 1, "b", "B")), STATUS_BAD_INPUT); /* twice */
	assert_int_equal(load(&f, record(0, 0, "b", "B")), STATUS_BAD_INPUT); /* no id */
	assert_int_equal(load(&f, record(6, 6, "b", "B")), STATUS_BAD_INPUT); /* its own parent */
	assert_int_equal(load(&f, record(6, 7, "b", "B")), STATUS_BAD_INPUT); /* a later parent */
	assert_int_equal(load(&f, record(1 << 20, 0, "b", "B")), STATUS_BAD_INPUT); /* too many */
	r = (void *)record(6, 0, "b", "B");
	r->name_bytes = 0;
	assert_int_equal(load(&f, (void *)r), STATUS_BAD_INPUT);
	r->name_bytes = 3; /* ends in the class */
	assert_int_equal(load(&f, (void *)r), STATUS_BAD_INPUT);
	r->name_bytes = 2;
	r->class_bytes = 200;
	assert_int_equal(load(&f, (void *)r), STATUS_BAD_INPUT);
	r->class_bytes = 2;
	assert_int_equal(load_torch_module(&f, (void *)r, 8), STATUS_BAD_INPUT);
	assert_int_equal(load(&f, (void *)r), STATUS_OK);
	vec_free(&f.torch_modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(long_names),
					   cmocka_unit_test(damaged)};
	return cmocka_run_group_tests_name("torch_modules", tests, NULL, NULL);
}
