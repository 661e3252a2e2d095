/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/gpu/index: what was added is found, also while it grows under readers, and
 * equal hashes are told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/gpu/index.h"

#include <pthread.h>

enum { N = 100000 };
static uint64_t values[N];
static struct index idx;
static _Atomic unsigned n_added;

static bool same(const void *value, const void *key)
{
	return *(const uint64_t *)value == *(const uint64_t *)key;
}

/* Few different hashes: long chains. */
static uint64_t poor_hash(uint64_t key)
{
	return key % 1000;
}

static void grows(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		values[i] = i;
		assert_null(index_find(&idx, poor_hash(i), same, &i));
		assert_true(index_add(&idx, poor_hash(i), &values[i]));
		assert_ptr_equal(index_find(&idx, poor_hash(i), same, &i), &values[i]);
	}
	for (uint64_t i = 0; i < 5000; i++)
		assert_ptr_equal(index_find(&idx, poor_hash(i), same, &i), &values[i]);
	for (uint64_t i = 5000; i < 7000; i++)
		assert_null(index_find(&idx, poor_hash(i), same, &i));
	index_clear(&idx);
	uint64_t zero = 0;
	assert_null(index_find(&idx, 0, same, &zero));
	index_clear(&idx);
}

static void *read_all(void *missed)
{
	for (unsigned seen = 0; seen < N;) {
		seen = atomic_load(&n_added);
		for (unsigned k = 0; k < 50 && seen; k++) {
			uint64_t key = (seen - 1) * 7919u * (k + 1) % seen;
			*(uint64_t *)missed += index_find(&idx, key, same, &key) != &values[key];
		}
	}
	return NULL;
}

static void read_while_it_grows(void **state)
{
	pthread_t t[3];
	uint64_t missed[3] = {0};
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, read_all, &missed[i]), 0);
	for (uint64_t i = 0; i < N; i++) {
		values[i] = i;
		assert_true(index_add(&idx, i, &values[i]));
		atomic_store(&n_added, (unsigned)i + 1);
	}
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(missed[i], 0);
	}
	index_clear(&idx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(grows),
					   cmocka_unit_test(read_while_it_grows)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
