/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcrun-lite/runtime/config: what is encoded is decoded, damage is refused, and ranks are
 * found in each launcher's environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hpcrun-lite/config/config.h"

#include <stdlib.h>
#include <string.h>

static struct config sample(void)
{
	struct config c;
	config_defaults(&c);
	strcpy(c.directory, "/a dir/with;odd,chars=%20\n\xc3\xa9");
	strcpy(c.library, "/usr/lib/hpctoolkit-lite/libhpcrun-lite.so");
	strcpy(c.job, "job;1");
	c.trace = true;
	c.say = CONFIG_VERBOSE;
	c.rank = 12;
	c.n_ranks = 4000;
	c.root_pid = 4194303;
	c.exec_pid = 77;
	c.exec_seq = 3;
	c.process_start_ns = UINT64_C(123456789012345678);
	c.spawned = (struct config_job){UINT64_C(0xfedcba9876543210), 99, 4711};
	c.max_bytes = UINT64_C(1) << 40;
	c.root_device = 2;
	c.root_inode = UINT64_MAX;
	c.n_events = 2;
	c.event[0] = (struct config_event){.name = "CPUTIME",
					   .kind = CONFIG_CPUTIME,
					   .unit = MSR_UNIT_NS,
					   .period = 1000000,
					   .as_rate = true};
	c.event[1] = (struct config_event){.name = "perf::X:u=1,a;b",
					   .kind = CONFIG_PERF,
					   .perf_type = 1,
					   .perf_config = UINT64_MAX,
					   .period = 100};
	c.torch = true;
	c.gpu_bytes = UINT64_C(3) << 32;
	c.n_gpus = 2;
	c.gpu[0] = (struct config_gpu){"opencl", "", true};
	c.gpu[1] = (struct config_gpu){"nvidia", "pc@10,mode=serialized;x", false};
	return c;
}

static void round_trip(void **state)
{
	static char text[CONFIG_MAX_BYTES];
	struct config c = sample(), d;
	(void)state;
	size_t n = config_encode(&c, text, sizeof text);
	assert_int_equal(n, strlen(text));
	for (size_t i = 0; i < n; i++)
		assert_in_range((unsigned char)text[i], 0x20, 0x7e);
	memset(&d, 0x55, sizeof d);
	assert_true(config_decode(text, &d));
	assert_string_equal(d.directory, c.directory);
	assert_string_equal(d.library, c.library);
	assert_string_equal(d.job, c.job);
	assert_int_equal(d.trace, 1);
	assert_int_equal(d.torch, 1);
	assert_int_equal(d.nvtx, 0);
	assert_int_equal(d.say, c.say);
	assert_int_equal(d.rank, 12);
	assert_int_equal(d.n_ranks, 4000);
	assert_int_equal(d.root_pid, c.root_pid);
	assert_int_equal(d.exec_pid, c.exec_pid);
	assert_int_equal(d.exec_seq, 3);
	assert_int_equal(d.process_start_ns, c.process_start_ns);
	assert_int_equal(d.spawned.host_id, c.spawned.host_id);
	assert_int_equal(d.spawned.id, 99);
	assert_int_equal(d.spawned.pid, 4711);
	assert_int_equal(d.max_depth, CONFIG_MAX_DEPTH);
	assert_int_equal(d.max_nodes, CONFIG_MAX_NODES);
	assert_int_equal(d.max_bytes, c.max_bytes);
	assert_int_equal(d.root_device, c.root_device);
	assert_int_equal(d.root_inode, c.root_inode);
	assert_int_equal(d.n_events, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(d.event[i].name, c.event[i].name);
		assert_int_equal(d.event[i].kind, c.event[i].kind);
		assert_int_equal(d.event[i].unit, c.event[i].unit);
		assert_int_equal(d.event[i].perf_type, c.event[i].perf_type);
		assert_int_equal(d.event[i].perf_config, c.event[i].perf_config);
		assert_int_equal(d.event[i].period, c.event[i].period);
		assert_int_equal(d.event[i].as_rate, c.event[i].as_rate);
	}
	assert_int_equal(d.gpu_bytes, c.gpu_bytes);
	assert_int_equal(d.n_gpus, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(d.gpu[i].name, c.gpu[i].name);
		assert_string_equal(d.gpu[i].options, c.gpu[i].options);
		assert_int_equal(d.gpu[i].preload, c.gpu[i].preload);
	}
	assert_ptr_equal(config_find_gpu(&d, "nvidia"), &d.gpu[1]);
	assert_null(config_find_gpu(&d, "nvidi"));
	assert_null(config_find_gpu(&d, "amd"));
}

/* What stands in LD_PRELOAD, whole and cut. */
static void preload(void **state)
{
	struct config c;
	char text[128];
	(void)state;
	config_defaults(&c);
	strcpy(c.library, "/a/b/libhpcrun-lite.so");
	assert_int_equal(config_preload(&c, NULL, text, sizeof text),
			 strlen("/a/b/libhpcrun-lite.so"));
	assert_string_equal(text, "/a/b/libhpcrun-lite.so");
	c.n_gpus = 2;
	c.gpu[0] = (struct config_gpu){"nvidia", "", false};
	c.gpu[1] = (struct config_gpu){"opencl", "", true};
	static const char both[] = "/a/b/libhpcrun-lite.so:/a/b/libhpcrun-lite-opencl.so";
	assert_int_equal(config_preload(&c, NULL, text, sizeof text), sizeof both - 1);
	assert_string_equal(text, both);
	assert_int_equal(config_preload(&c, NULL, NULL, 0), sizeof both - 1);
	memset(text, '#', sizeof text);
	assert_int_equal(config_preload(&c, NULL, text, 10), sizeof both - 1);
	assert_string_equal(text, "/a/b/libh");
	assert_int_equal(text[10], '#');
}

static void too_small(void **state)
{
	static char text[CONFIG_MAX_BYTES];
	struct config c = sample();
	(void)state;
	size_t n = config_encode(&c, text, sizeof text);
	for (size_t room = 0; room <= n; room++) {
		text[room] = '#';
		assert_int_equal(config_encode(&c, text, room), 0);
		assert_int_equal(text[room], '#');
	}
	assert_int_equal(config_encode(&c, text, n + 1), n);
}

static void refused(void **state)
{
	static const char *const bad[] = {
		"",
		"1",
		"2;dir=/d;event=C,1,1,0,0,1,0,0",
		"1;dir=relative;event=C,1,1,0,0,1,0,0",
		"1;dir=/d", /* no event */
		"1;dir=/d;event=C,1,1,0,0,0,0,0",
		/* no period */ "1;dir=/d;event=C,9,1,0,0,1,0,0",
		"1;dir=/d;event=C,1,1",
		"1;dir=/d%2;event=C,1,1,0,0,1,0,0",
		"1;dir=/d;depth=3;event=C,1,1,0,0,1,0,0",
		"1;dir=/d;nodes=99999999999;event=C,1,1,0,0,1,0,0",
		"1;dir=/d;event=C,1,1,0,0,1,0,0x",
		"1;dir=/d;event=C,1,1,0,0,99999999999999999999,0,0",
		"1;;dir=/d",
		"1;dir",
		"1;dir=/d;gpu=",
		"1;dir=/d;gpu=,pc",
		"1;dir=/d;gpu=a/b,",
		"1;dir=/d;gpu=a,;gpu=a,x",
		"1;dir=/d;gpu=a,;gpu=b,;gpu=c,;gpu=d,",
		"1;dir=/d;gpu=abcdefghijklmnop,",
		"1;dir=/d;gpu=a,;gpubytes=x",
		"1;dir=/d;gpu=a,,x",
	};
	struct config c;
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (config_decode(bad[i], &c))
			fail_msg("accepted: %s", bad[i]);
	assert_true(config_decode("1;dir=/d;unknown=4,5,six;event=C,1,1,0,0,1,0,0", &c));
	assert_int_equal(c.rank, -1);
	assert_int_equal(c.gpu_bytes, CONFIG_GPU_BYTES);
	assert_true(config_decode("1;dir=/d;gpu=opencl", &c)); /* GPUs alone will do */
	assert_int_equal(c.n_events, 0);
	assert_int_equal(c.n_gpus, 1);
	assert_string_equal(c.gpu[0].options, "");
}

/* Any change of any byte: never outside the buffers (under a sanitizer), and the result is within
 * its bounds. */
static void mutations(void **state)
{
	static char text[CONFIG_MAX_BYTES], copy[CONFIG_MAX_BYTES];
	struct config c = sample(), d;
	(void)state;
	size_t n = config_encode(&c, text, sizeof text);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		memcpy(copy, text, n + 1);
		for (int j = rand() % 4; j >= 0; j--)
			copy[(size_t)rand() % n] = (char)rand();
		if (rand() % 4 == 0)
			copy[(size_t)rand() % n] = '\0';
		if (config_decode(copy, &d)) {
			assert_in_range(d.n_events, 0, MSR_MAX_METRICS);
			assert_in_range(d.n_gpus, d.n_events ? 0 : 1, CONFIG_MAX_GPUS);
			assert_in_range(d.max_depth, 16, 65535);
			assert_true(strlen(d.directory) < sizeof d.directory);
		}
	}
}

static void ranks(void **state)
{
	static const struct {
		const char *env[9];
		int rank, size;
	} cases[] = {
		{{"HOME=/", NULL}, -1, -1},
		{{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", NULL}, 3, 4},
		{{"PMI_RANK=1", "PMI_SIZE=2", NULL}, 1, 2},
		{{"PMIX_RANK=5", NULL}, 5, -1},
		{{"PALS_RANKID=6", "PALS_SIZE=8", NULL}, 6, 8},
		{{"FLUX_TASK_RANK=2", "FLUX_JOB_SIZE=3", NULL}, 2, 3},
		{{"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_STEP_ID=0", NULL}, 1, 2},
		{{"SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_STEP_ID=4294967291", NULL}, -1,
			-1}, /* the batch script */
		{{"SLURM_PROCID=0", "SLURM_NTASKS=2", NULL}, -1, -1},
		{{"SLURM_PROCID=0", "SLURM_STEP_ID=0", "OMPI_COMM_WORLD_RANK=7",
			 "OMPI_COMM_WORLD_SIZE=9", NULL},
			7, 9}, /* mpirun within a step */
		{{"PMI_RANK=x1", "PMI_SIZE=2", NULL}, -1, -1},
		{{"PMI_RANKS=1", NULL}, -1, -1},
		{{"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2", NULL}, 1, 2},
		{{"MVP_COMM_WORLD_RANK=1", "MVP_COMM_WORLD_SIZE=2", NULL}, 1, 2},
		{{"JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=4", "PMIX_RANK=3", "PMIX_NAMESPACE=1",
			 NULL},
			3, 4},
		{{"ALPS_APP_PE=2", "ALPS_APP_ID=77", NULL}, 2, -1},
		{{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=none",
			 "MASTER_ADDR=localhost", "MASTER_PORT=29500", NULL},
			1, 2},
		{{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=none",
			 "SLURM_PROCID=0", "SLURM_STEP_ID=0", "SLURM_NTASKS=1", NULL},
			1, 2},
		{{"RANK=2", "WORLD_SIZE=2", "LOCAL_RANK=1", "TORCHELASTIC_RUN_ID=none", NULL}, -1,
			-1},
		{{"RANK=1", "WORLD_SIZE=2", "LOCAL_RANK=1", "MASTER_ADDR=localhost",
			 "MASTER_PORT=29500", NULL},
			-1, -1},
		{{"RANK=1", "WORLD_SIZE=2", "LOCAL_SIZE=2", "CROSS_RANK=0", "CROSS_SIZE=1",
			 "MASTER_ADDR=localhost", "MASTER_PORT=29500", NULL},
			1, 2}, /* DeepSpeed */
		{{"RANK=1", "WORLD_SIZE=2", NULL}, -1, -1},
		{{"RANK=colonel", "WORLD_SIZE=2", "LOCAL_RANK=0", "TORCHELASTIC_RUN_ID=x",
			 "PMI_RANK=0", "PMI_SIZE=1", NULL},
			0, 1},
		{{"PMI_RANK=99999999999", NULL}, -1, -1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct config c;
		config_defaults(&c);
		config_find_rank(&c, (char *const *)(uintptr_t)cases[i].env);
		if (c.rank != cases[i].rank || c.n_ranks != cases[i].size)
			fail_msg("case %zu: rank %d of %d", i, c.rank, c.n_ranks);
	}
	struct config c = sample();
	config_find_rank(&c, (char *const *)(uintptr_t)cases[1].env);
	assert_int_equal(c.rank, 12); /* what the launcher said stands */
}

static void spawned_by_launcher(void **state)
{
	static const char *const env[] = {"PMI_SPAWNED=1", "PMI_RANK=0", "PMI_SIZE=2", NULL};
	struct config c;
	(void)state;
	config_defaults(&c);
	config_find_rank(&c, (char *const *)(uintptr_t)(env + 1));
	assert_int_equal(c.spawned.id, 0);
	config_defaults(&c);
	config_find_rank(&c, (char *const *)(uintptr_t)env);
	assert_int_equal(c.spawned.id, CONFIG_JOB_UNKNOWN);
	config_defaults(&c);
	c.spawned.id = 5; /* the process that called knows better */
	config_find_rank(&c, (char *const *)(uintptr_t)env);
	assert_int_equal(c.spawned.id, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(preload),
		cmocka_unit_test(too_small),  cmocka_unit_test(refused),
		cmocka_unit_test(mutations),  cmocka_unit_test(ranks),
		cmocka_unit_test(spawned_by_launcher),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
