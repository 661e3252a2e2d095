/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/unwind/proof.h: any one word that changes, and any two that change places,
 * change the sum; what lies out of reach has no slots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/unwind/proof.h"

enum { N = 40 };

static uint64_t stack[2 * N];
static struct proof_slots slots[N];
#define STACK_END ((uint64_t)(stack + 2 * N))

static int fill(void **state)
{
	(void)state;
	for (unsigned i = 0; i < N; i++) {
		stack[2 * i] = UINT64_C(0x7f0012340000) + 64 * i;         /* a return address */
		stack[2 * i + 1] = UINT64_C(0x7fff00001000) + 1024 * i;   /* a frame pointer */
		assert_true(proof_make_slots(&slots[i], STACK_END, (uint64_t)&stack[2 * i],
					     (uint64_t)&stack[2 * i + 1]));
	}
	return 0;
}

static uint64_t sum(void)
{
	return proof_sum(slots, N, STACK_END);
}

static void one_word(void **state)
{
	(void)state;
	const uint64_t before = sum();
	for (unsigned i = 0; i < 2 * N; i++)
		for (unsigned bit = 0; bit < 64; bit++) {
			const uint64_t change = UINT64_C(1) << bit;
			const bool is_signature = i % 2 == 0 && !arch_strip(change);
			stack[i] ^= change;
			assert_true((sum() == before) == is_signature);
			stack[i] ^= change;
		}
	assert_int_equal(sum(), before);
}

static void two_words(void **state)
{
	(void)state;
	const uint64_t before = sum();
	for (unsigned i = 0; i < 2 * N; i++)
		for (unsigned k = 0; k < i; k++) {
			uint64_t a = stack[i], b = stack[k];
			stack[i] = b, stack[k] = a;
			assert_int_not_equal(sum(), before);
			stack[i] = a + 16, stack[k] = b - 16;
			assert_int_not_equal(sum(), before);
			stack[i] = a, stack[k] = b;
		}
}

/* Two frames of equal size that change places, with all that is in them. */
static void two_frames(void **state)
{
	(void)state;
	const uint64_t before = sum();
	for (unsigned i = 0; i < N; i++)
		for (unsigned k = 0; k < i; k++)
			for (unsigned turn = 0; turn < 2; turn++) {
				for (unsigned w = 0; w < 2; w++) {
					uint64_t a = stack[2 * i + w];
					stack[2 * i + w] = stack[2 * k + w], stack[2 * k + w] = a;
				}
				assert_true((sum() == before) == (turn == 1));
			}
}

/* The sum of all frames is that of the inner ones and of the outer ones: so a path's tail keeps its
 * sum when inner frames come and go. */
static void adds_up(void **state)
{
	(void)state;
	for (unsigned n = 0; n <= N; n++) {
		uint64_t inner = 0;
		for (unsigned i = 0; i < N - n; i++)
			inner += proof_hash(stack[2 * i], stack[2 * i + 1], N - i);
		assert_int_equal(inner + proof_sum(slots + N - n, n, STACK_END), sum());
	}
}

static void out_of_reach(void **state)
{
	(void)state;
	struct proof_slots s;
	const uint64_t end = UINT64_C(0x7fff00000000);
	assert_true(proof_make_slots(&s, end, end - 8, end - UINT32_MAX));
	assert_false(proof_make_slots(&s, end, end - 8, end - UINT32_MAX - 1));
	assert_false(proof_make_slots(&s, end, end - UINT32_MAX - 1, end - 8));
	assert_false(proof_make_slots(&s, end, end, end - 8));
	assert_false(proof_make_slots(&s, end, end - 8, end + 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_word),     cmocka_unit_test(two_words),
		cmocka_unit_test(two_frames),   cmocka_unit_test(adds_up),
		cmocka_unit_test(out_of_reach),
	};
	return cmocka_run_group_tests(tests, fill, NULL);
}
