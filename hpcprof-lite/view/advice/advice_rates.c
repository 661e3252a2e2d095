/* SPDX-License-Identifier: BSD-3-Clause */
/* See advice_rates.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/advice_rates.h"

#include <math.h>

/* Bytes that a bank of shared memory delivers in a cycle; there are as many banks as threads. */
#define BANK_BYTES 4

double advice_shared_rate(const struct advice_kernel *k)
{
	double cycles = 0;
	for (size_t i = 0; i < k->n_causes; i++) {
		const struct advice_cause *c = &k->causes[i];
		if (c->reason != ADVICE_SHORT || c->operation == ADVICE_PATHS)
			continue;
		if (c->operation == ADVICE_SHARED && c->bytes <= 0 && c->issued > 0)
			return 0;
		cycles += fmax(c->issued, c->bytes / BANK_BYTES);
	}
	return 2 * ADVICE_SCHEDULERS * advice_active(&k->samples) * cycles /
	       fmax(k->samples.issued, 1);
}

bool advice_shared_is_slow(const struct advice_kernel *k, const struct advice_causes *c)
{
	const double rate = advice_shared_rate(k),
		     queue = advice_idle(&k->samples, ADVICE_SHORT_QUEUE);
	return rate > 0 && rate <= 0.5 && 2 * c->issued_of[ADVICE_SHARED] >= c->issued &&
	       queue >= fmax((1 - advice_active(&k->samples)) / 2, ADVICE_LEAST_SHARE);
}
