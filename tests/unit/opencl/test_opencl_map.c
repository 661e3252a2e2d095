/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL back end's map from handles and its memory, against plain ones. */
#include "hpcrun-lite/gpu/opencl/ocl_map.h"
#include "hpcrun-lite/gpu/opencl/ocl_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_KEYS 5000u
#define N_STEPS 400000u

/* Any order of puts and takes, with keys as malloc gives them, leaves what an array would hold. */
static void as_an_array(void **state)
{
	static struct ocl_map m;
	static uintptr_t truth[N_KEYS];
	(void)state;
	ocl_map_init(&m);
	srand(1);
	for (unsigned i = 0; i < N_STEPS; i++) {
		unsigned k = (unsigned)rand() % N_KEYS, what = (unsigned)rand() % 5;
		uint64_t key = UINT64_C(0x55d0c0de0000) + k * 48;
		if (what < 2) {
			void *old = &m;
			uintptr_t value = 1 + (uintptr_t)rand();
			assert_true(ocl_map_put(&m, key, (void *)value, &old));
			assert_int_equal((uintptr_t)old, truth[k]);
			truth[k] = value;
		} else if (what < 4) {
			assert_int_equal((uintptr_t)ocl_map_take(&m, key), truth[k]);
			truth[k] = 0;
		} else {
			assert_int_equal((uintptr_t)ocl_map_get(&m, key), truth[k]);
		}
	}
	for (unsigned k = 0; k < N_KEYS; k++)
		assert_int_equal((uintptr_t)ocl_map_get(&m, UINT64_C(0x55d0c0de0000) + k * 48),
				 truth[k]);
}

static void nothing(void **state)
{
	static struct ocl_map m;
	(void)state;
	ocl_map_init(&m);
	assert_null(ocl_map_get(&m, 0));
	assert_null(ocl_map_get(&m, 5));
	assert_null(ocl_map_take(&m, 0));
	assert_null(ocl_map_take(&m, 5));
	assert_false(ocl_map_put(&m, 0, &m, NULL));
	assert_false(ocl_map_put(&m, 5, NULL, NULL));
	assert_true(ocl_map_put(&m, 5, &m, NULL));
	assert_ptr_equal(ocl_map_get(&m, 5), &m);
}

/* Pieces are zeroed, apart from each other, and used again. */
static void pieces(void **state)
{
	static const size_t sizes[] = {1, 63, 64, 65, 200, 4096, 8192, 8193, 100000};
	struct ocl_memory m;
	char *piece[9][20];
	(void)state;
	ocl_memory_init(&m);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 9; i++)
			for (unsigned k = 0; k < 20; k++) {
				piece[i][k] = ocl_memory_get(&m, sizes[i]);
				assert_non_null(piece[i][k]);
				for (size_t b = 0; b < sizes[i]; b++)
					assert_int_equal(piece[i][k][b], 0);
				memset(piece[i][k], (int)(i * 20 + k), sizes[i]);
			}
		for (unsigned i = 0; i < 9; i++)
			for (unsigned k = 0; k < 20; k++) {
				for (size_t b = 0; b < sizes[i]; b++)
					assert_int_equal((unsigned char)piece[i][k][b], i * 20 + k);
				ocl_memory_put(&m, piece[i][k], sizes[i]);
			}
	}
	char *last = ocl_memory_get(&m, 64);
	ocl_memory_put(&m, last, 64);
	assert_ptr_equal(ocl_memory_get(&m, 50), last);
	ocl_memory_put(&m, NULL, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_an_array), cmocka_unit_test(nothing),
					   cmocka_unit_test(pieces)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
