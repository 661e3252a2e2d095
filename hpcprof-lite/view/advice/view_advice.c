/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_advice.h. Test: tests/unit/prof_gpu/test_advice.c. */
#include "hpcprof-lite/view/advice/view_advice.h"

#include <stdlib.h>

static const struct {
	const char *key, *title, *cure, *assumption;
} kinds[VIEW_N_ADVICE_KINDS] = {
	[VIEW_ADVICE_SCATTERED] = {"scattered", "scattered access to memory",
				   "let neighbouring threads use neighbouring addresses",
				   "the data can be laid out or read in that order"},
	[VIEW_ADVICE_IN_FLIGHT] = {"in-flight", "loads that are waited for one by one",
				   "load ahead of use, 2 to 8 at a time; keep what is used again",
				   "no load needs the result of the load before it"},
	[VIEW_ADVICE_QUEUE] =
		{"queue", "many instructions that access memory",
		 "keep what is used again in registers; access 8 or 16 bytes at a time",
		 "a thread uses the same data again, or neighbouring data"},
	[VIEW_ADVICE_NARROW] = {"narrow", "few bytes in each access to memory",
				"access 4 to 16 bytes at a time: uchar4, uint4",
				"a thread can do the work of its neighbours"},
	[VIEW_ADVICE_ATOMICS] = {"atomics", "atomic operations on few addresses",
				 "sum in a warp or block first, or spread over more addresses",
				 "many threads add to the same place"},
	[VIEW_ADVICE_VOLATILE] = {"volatile", "volatile loads, past the L1 cache",
				  "without volatile, or read once; __constant__ for what all read",
				  "no other thread changes the data meanwhile"},
	[VIEW_ADVICE_LOCAL] = {"local", "values in local memory",
			       "allow more registers, or keep fewer values at a time",
			       "they are spilled registers, or arrays with constant indices"},
	[VIEW_ADVICE_BANKS] = {"banks", "conflicts in shared memory",
			       "pad rows, or change which thread reads what",
			       "the accesses of a warp fall into few banks"},
	[VIEW_ADVICE_SPECIAL] = {"special", "special functions",
				 "compute sin, exp, division and the like less often",
				 "some of the results can be kept or updated"},
	[VIEW_ADVICE_CONVERSIONS] = {"conversions", "conversions between types",
				     "keep values in one type; write 0.5f for 0.5 in float code",
				     "the precision is not needed, or the other type can be kept"},
	[VIEW_ADVICE_DIVISION] = {"division", "division of integers, or remainders",
				  "32 bits, a power of two, or a number the compiler knows",
				  "the divisor can be known, or the index be counted up"},
	[VIEW_ADVICE_PIPE] = {"pipe", "a busy arithmetic unit",
			      "cheaper instructions: float for double, fewer conversions",
			      "the precision is not needed, or another unit can do it"},
	[VIEW_ADVICE_BARRIER] = {"barrier", "unequal work before a barrier",
				 "divide the work evenly among the warps of a block",
				 "the work before the barrier can be divided"},
	[VIEW_ADVICE_FETCH] = {"fetch", "code beyond the instruction cache",
			       "unroll and inline less", "shorter code needs no more instructions"},
	[VIEW_ADVICE_CONSTANT] = {"constant", "misses in the constant cache",
				  "use one index for a warp, or shared memory",
				  "constants are indexed by thread"},
	[VIEW_ADVICE_BRANCH] = {"branch", "many branches",
				"fewer and longer branches, or predication",
				"the branches can be avoided"},
	[VIEW_ADVICE_DIVERGENCE] = {"divergence", "threads of a warp on different paths",
				    "give the threads of a warp the same kind of work: sort it",
				    "the work can be ordered, and paths take equally long"},
	[VIEW_ADVICE_DEPENDENT] = {"dependent", "chains of dependent instructions",
				   "work on two or more results in turn",
				   "there is independent work"},
	[VIEW_ADVICE_OCCUPANCY] = {"occupancy", "few warps on an SM",
				   "ease what limits their number",
				   "warps wait independently, and each does as much as now"},
	[VIEW_ADVICE_GRID] = {"grid", "fewer blocks than SMs",
			      "launch more blocks, and more threads in all",
			      "the work of a thread can be divided"},
	[VIEW_ADVICE_WAVE] = {"wave", "a last wave that leaves SMs idle",
			      "as many blocks as fit, or a multiple, with a loop in each",
			      "blocks take equally long"},
	[VIEW_ADVICE_TAIL] = {"tail", "blocks that run longer than others",
			      "give blocks equal work, or the longest first, in smaller pieces",
			      "the work can be divided otherwise"},
	[VIEW_ADVICE_LAUNCHES] = {"launches", "short kernels, launched one by one",
				  "launch them as a graph, or fuse them",
				  "the sequence repeats, or kernels can be joined"},
	[VIEW_ADVICE_COPIES] = {"copies", "small copies, started one by one",
				"copy more at a time: cudaMemcpy2D, or pack the data first",
				"the data are known together"},
	[VIEW_ADVICE_WAITS] = {"waits", "waits that leave the GPU idle",
			       "wait less often; launch the next work first",
			       "the host does not need the result at once"},
	[VIEW_ADVICE_HOST] = {"host", "work of the host between that of the GPU",
			      "do it while the GPU works",
			      "the two do not need the results of each other"},
	[VIEW_ADVICE_ALLOCATIONS] = {"allocations", "GPU memory allocated or freed again and again",
				     "allocate once, before the loop; or cudaMallocAsync, a pool",
				     "the size is known before, or has a limit"},
	[VIEW_ADVICE_OVERLAP] = {"overlap", "copies and kernels one after the other",
				 "copy in pieces, in a second stream",
				 "kernels can begin with a part of the data"},
	[VIEW_ADVICE_PINNED] = {"pinned", "slow copies, as from pageable memory",
				"pin the host's memory: cudaMallocHost, cudaHostRegister",
				"it is not pinned, and the link is as fast as the GPU allows"},
};

const char *view_advice_title(enum view_advice_kind k)
{
	return kinds[k].title;
}

const char *view_advice_key(enum view_advice_kind k)
{
	return kinds[k].key;
}

const char *view_advice_cure(enum view_advice_kind k)
{
	return kinds[k].cure;
}

const char *view_advice_assumption(enum view_advice_kind k)
{
	return kinds[k].assumption;
}

double view_advice_saved(const struct view_advice *a)
{
	return a->seconds * (1 - 1 / a->factor.likely);
}

static int compare(const void *pa, const void *pb)
{
	const struct view_advice *a = pa, *b = pb;
	double left = view_advice_saved(a), right = view_advice_saved(b);
	if (left != right)
		return left < right ? 1 : -1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

/* The time from first to last use of all devices. If that is not known, the time of the kernels. */
static double whole_of(const struct advice_facts *f)
{
	double whole = 0;
	for (size_t i = 0; i < f->devices.n; i++)
		whole += f->devices.at[i].whole;
	for (size_t i = 0; !f->devices.n && i < f->kernels.n; i++)
		whole += f->kernels.at[i].seconds;
	return whole;
}

bool view_advice_make(const struct model *m, const struct view_gpu *g, struct view_advices *a)
{
	struct advice_facts f;
	*a = (struct view_advices){0};
	bool ok = advice_facts_make(m, g, &f);
	a->whole = whole_of(&f);
	for (size_t i = 0; ok && i < f.kernels.n; i++)
		ok = view_advice_kernel(&f.kernels.at[i], a);
	for (size_t i = 0; ok && i < f.devices.n; i++)
		ok = view_advice_device(&f.devices.at[i], a);
	advice_facts_free(&f);
	for (size_t i = 0; ok && i < a->rows.n; i++)
		a->rows.at[i].whole = a->whole;
	if (!ok)
		view_advice_free(a);
	else if (a->rows.n)
		qsort(a->rows.at, a->rows.n, sizeof *a->rows.at, compare);
	return ok;
}

void view_advice_free(struct view_advices *a)
{
	vec_free(&a->rows);
	*a = (struct view_advices){0};
}
