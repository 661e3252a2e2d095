/* SPDX-License-Identifier: BSD-3-Clause */
/* See advice_estimate.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/advice_estimate.h"

#include <math.h>

static const double SAVED_MOST = 0.99;

static double factor_of(double saved)
{
	return 1 / (1 - fmin(fmax(saved, 0), SAVED_MOST));
}

struct advice_interval advice_from_saved(double low, double likely, double high)
{
	likely = fmax(likely, low);
	return (struct advice_interval){factor_of(low), factor_of(likely),
					factor_of(fmax(high, likely))};
}

struct advice_interval advice_bound(struct advice_interval i, double most)
{
	most = fmax(most, 1);
	return (struct advice_interval){fmin(i.low, most), fmin(i.likely, most),
					fmin(i.high, most)};
}

/* pow() would need a libm of 2.29. */
double advice_any_of(double share, double times)
{
	return -expm1(times * log1p(-share));
}

double advice_more_warps(double active, double warps, double new_warps)
{
	if (active <= 0 || active >= 1 || warps <= 0 || new_warps <= warps)
		return 1;
	/* 1 - (1 - R)^warps == active, so (1 - R)^new_warps follows without R */
	return advice_any_of(active, new_warps / warps) / active;
}
