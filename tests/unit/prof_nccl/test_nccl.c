/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/nccl and view_nccl.h: time lines whose truth gen_nccl.h says. */
#include "hpcprof-lite/attribute/nccl/nccl_names.h"
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/view/findings/findings.h"
#include "hpcprof-lite/view/view_nccl.h"
#include "tests/gen/gen_nccl.h"
#include "tests/unit/prof/prof_fixture.h"

#include <string.h>

#define US(x) (UINT64_C(1000) * (x))

struct run {
	char *directory;
	struct model *m;
};

static struct run begin(const struct gen_nccl *p)
{
	struct run r = {.directory = fixture_directory()};
	gen_nccl_job(r.directory, p);
	r.m = fixture_model(r.directory, 1);
	fixture_check_model(r.m);
	return r;
}

static void end(struct run *r)
{
	model_free(r->m);
	fixture_remove(r->directory);
}

/* What holds of every model with kernels of NCCL. */
static void check(const struct model *m)
{
	uint64_t waited_ns = 0, at_sites_ns = 0;
	assert_non_null(m->nccl);
	for (uint32_t i = 0; i < m->nccl->n_devices; i++) {
		const struct model_nccl_device *d = &m->nccl->devices[i];
		assert_int_equal(d->elapsed_ns, d->nccl_ns + d->compute_ns - d->overlap_ns +
							d->copy_ns + d->idle_ns);
		waited_ns += d->waited_ns;
	}
	for (uint32_t i = 0; i < m->nccl->n_sites; i++) {
		const struct model_mpi_site *s = &m->nccl->sites[i];
		uint64_t sum_ns = 0;
		for (uint32_t k = 0; k < s->n_late; k++)
			sum_ns += m->nccl->late[s->first_late + k].waited_ns;
		assert_int_equal(sum_ns, s->waited_ns);
		at_sites_ns += s->waited_ns;
	}
	assert_int_equal(waited_ns, at_sites_ns);
}

/* ---- names ---- */

static void names(void **state)
{
	static const struct {
		const char *name;
		enum nccl_kind kind;
	} all[] = {
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 NCCL_ALL_REDUCE},
		{"_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
		 NCCL_ALL_REDUCE},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
		 NCCL_ALL_REDUCE},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 NCCL_ALL_GATHER},
		{"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 NCCL_REDUCE_SCATTER},
		{"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		 NCCL_REDUCE},
		{"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", NCCL_SEND_RECV},
		{"ncclDevKernel_Broadcast_RING_LL", NCCL_BROADCAST},
		{"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", NCCL_OTHER},
		/* several broadcasts; no rank need wait for all */
		{"ncclDevKernel_AllGatherV_RING_LL(ncclDevKernelArgsStorage<4096ul>)", NCCL_OTHER},
		{"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
		 NCCL_ALL_REDUCE},
		{"ncclSymkDevKernel_AllReduce_AGxLL_R_sum_f32(ncclSymkDevWorkArgs4K)",
		 NCCL_ALL_REDUCE},
		{"ncclSymDevKernel_AllGather_LL(ncclSymDevArgs)", NCCL_ALL_GATHER},
		{"ncclAllReduceRingLLKernel_sum_f32(ncclColl)", NCCL_ALL_REDUCE},
		{"ncclReduceScatterTreeLLKernel_sum_f16(ncclColl)", NCCL_REDUCE_SCATTER},
		{"ncclFunc(int)", NCCL_NOT},
		{"my_ncclDevKernel_AllReduce(int)", NCCL_NOT},
		{"gemm(float*)", NCCL_NOT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (nccl_kind_of(all[i].name) != all[i].kind)
			fail_msg("%s is %d", all[i].name, nccl_kind_of(all[i].name));
}

/* ---- two ranks ---- */

static void times(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8});
	const struct model_nccl *x = r.m->nccl;
	(void)state;
	check(r.m);
	assert_int_equal(x->n_devices, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct model_nccl_device *d = &x->devices[i];
		const uint64_t n_late = i ? 6 : 2;
		assert_int_equal(d->n_kernels, 24);
		assert_int_equal(d->elapsed_ns, US(80000));
		assert_int_equal(d->nccl_ns, US(8 * 5000 - n_late * 1000));
		assert_int_equal(d->compute_ns, US(8 * 3980));
		assert_int_equal(d->overlap_ns, US((8 - n_late) * 1000));
		assert_int_equal(d->copy_ns, US(8 * 500));
		assert_int_equal(d->n_calls, 16);
		assert_int_equal(d->waited_ns, US((8 - n_late) * 1000));
		assert_int_equal(d->n_last, n_late);
	}
	assert_int_equal(view_nccl_slowest(x), 1);
	end(&r);
}

static void last(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8});
	const struct model_nccl *x = r.m->nccl;
	(void)state;
	assert_int_equal(x->n_comms, 1);
	assert_int_equal(x->comms[0].n_members, 2);
	assert_int_equal(x->comms[0].n_calls, 24);
	assert_int_equal(x->comms[0].n_judged, 16);
	assert_int_equal(x->n_alone, 0);
	assert_int_equal(x->clock_error_ns, 0);
	assert_int_equal(x->n_sites, 2);
	const struct model_mpi_site *s = x->sites;
	assert_string_equal(view_nccl_operation(s->call), "AllReduce");
	assert_int_equal(r.m->contexts[s->context].line, 20);
	assert_int_equal(s->n_calls, 8);
	assert_int_equal(s->waited_ns, US(8000));
	assert_int_equal(s->n_late, 2);
	const struct model_mpi_late *l = &x->late[s->first_late];
	assert_int_equal(r.m->processes[r.m->profiles[l->profile].process].rank, 1);
	assert_int_equal(l->n_calls, 6);
	assert_int_equal(l->waited_ns, US(6000));
	assert_int_equal(l->behind_ns, US(6000));
	assert_int_equal(l->most_behind_ns, US(1000));
	assert_int_equal(r.m->contexts[l->context].line, 20);
	assert_string_equal(view_nccl_operation(s[1].call), "AllGather");
	assert_int_equal(r.m->contexts[s[1].context].line, 30);
	assert_int_equal(s[1].waited_ns, 0);
	assert_int_equal(s[1].n_late, 0);
	end(&r);
}

/* ---- which queues belong together ---- */

static int32_t rank_of(const struct model *m, const struct model_nccl_comm *c, uint32_t member)
{
	const uint32_t queue = m->nccl->members[c->first_member + member];
	return m->processes[m->gpu_contexts[m->gpu_queues[queue].context].process].rank;
}

static void groups(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 4, .n_steps = 8, .n_groups = 2});
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct model_nccl_comm *c = &r.m->nccl->comms[i];
		assert_int_equal(c->n_members, 2);
		assert_int_equal(rank_of(r.m, c, 0), i);
		assert_int_equal(rank_of(r.m, c, 1), i + 2);
	}
	assert_int_equal(r.m->nccl->devices[0].n_last, 2);
	assert_int_equal(r.m->nccl->devices[3].n_last, 6);
	end(&r);
}

static void one_ended_early(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 3, .n_steps = 8, .cut_steps = 3});
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 1);
	assert_int_equal(r.m->nccl->comms[0].n_members, 3);
	assert_int_equal(r.m->nccl->comms[0].n_calls, 15);
	assert_int_equal(r.m->nccl->n_alone, 2 * 9);
	end(&r);
}

static void one_began_late(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8, .cut_first = 4});
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 1);
	assert_int_equal(r.m->nccl->comms[0].n_calls, 20);
	assert_int_equal(r.m->nccl->n_alone, 4);
	assert_int_equal(r.m->nccl->devices[1].n_last, 4); /* steps 2, 4, 5, 6 */
	end(&r);
}

static void other_order(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8, .other_order = true});
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 0);
	assert_int_equal(r.m->nccl->n_sites, 0);
	assert_int_equal(r.m->nccl->n_alone, 48);
	assert_int_equal(view_nccl_slowest(r.m->nccl), MODEL_NONE);
	end(&r);
}

/* AllGather, where nobody is late, bounds the difference to +-1 ms. */
static void two_hosts(void **state)
{
	struct run r = begin(&(struct gen_nccl){
		.n_ranks = 4, .n_steps = 8, .n_hosts = 2, .clock_ns = UINT64_C(3000000000)});
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 1);
	assert_int_equal(r.m->nccl->comms[0].n_members, 4);
	assert_int_equal(r.m->nccl->clock_error_ns, US(1000));
	assert_int_equal(r.m->nccl->devices[1].n_last, 6);
	assert_int_equal(r.m->nccl->devices[2].n_last, 0);
	end(&r);
}

static void one_process(void **state)
{
	struct run r =
		begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8, .in_one_process = true});
	char name[64];
	(void)state;
	check(r.m);
	assert_int_equal(r.m->nccl->n_devices, 2);
	assert_int_equal(r.m->nccl->n_comms, 1);
	assert_int_equal(r.m->nccl->devices[1].n_last, 6);
	view_nccl_name(r.m, 0, r.m->nccl->devices[1].device, name, sizeof name);
	assert_string_equal(name, "pid 100, GPU 1");
	end(&r);
}

static void no_kernel(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 2, .none = true});
	(void)state;
	assert_null(r.m->nccl);
	end(&r);
}

/* ---- parts of a run ---- */

static void parts(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8});
	(void)state;
	assert_int_equal(filter_apply(&r.m, &(struct filter){.ranks = "1"}, 1), STATUS_OK);
	check(r.m);
	assert_int_equal(r.m->nccl->n_devices, 1);
	assert_int_equal(r.m->nccl->devices[0].n_kernels, 24);
	assert_int_equal(r.m->nccl->n_comms, 0);
	assert_int_equal(r.m->nccl->n_alone, 24);
	end(&r);
	r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8});
	assert_int_equal(filter_apply(&r.m, &(struct filter){.time = "50%:"}, 1), STATUS_OK);
	check(r.m);
	assert_int_equal(r.m->nccl->n_comms, 1);
	assert_int_equal(r.m->nccl->comms[0].n_calls, 12);
	assert_int_equal(r.m->nccl->devices[1].n_last, 3);
	end(&r);
}

/* ---- findings ---- */

/* Rank 1 is late by 1 ms in 6 of 8 steps of 10 ms, and rank 0 in the other two. */
static void a_straggler(void **state)
{
	struct run r = begin(&(struct gen_nccl){.n_ranks = 2, .n_steps = 8});
	struct findings f;
	(void)state;
	assert_true(findings_make(r.m, &f));
	size_t i = 0;
	while (i < f.list.n && strcmp(f.list.at[i].key, "straggler") != 0)
		i++;
	assert_int_not_equal(i, f.list.n);
	assert_int_equal(r.m->processes[f.list.at[i].process].rank, 1);
	assert_true(f.list.at[i].facts[0].value > 0.0039 && f.list.at[i].facts[0].value < 0.0041);
	findings_free(&f);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(times),
		cmocka_unit_test(last),
		cmocka_unit_test(groups),
		cmocka_unit_test(one_ended_early),
		cmocka_unit_test(one_began_late),
		cmocka_unit_test(other_order),
		cmocka_unit_test(two_hosts),
		cmocka_unit_test(one_process),
		cmocka_unit_test(no_kernel),
		cmocka_unit_test(parts),
		cmocka_unit_test(a_straggler),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
