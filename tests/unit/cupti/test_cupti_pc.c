/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling of the NVIDIA back end before a fake host and a fake CUPTI: options, stall
 * reasons, sums, sessions, overflows, contexts, the lock. */
#include "tests/unit/cupti/fake_cupti_pc.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- options ---- */

static void test_options(void **state)
{
	(void)state;
	struct nv_options o = read_options("");
	assert_true(o.pc == NV_PC_OFF && !o.no_times && !o.exponent);
	o = read_options("pc");
	assert_true(o.pc == NV_PC_CONTINUOUS && !o.exponent);
	o = read_options("cupti=/a/b.so,pc@18,mode=serialized");
	assert_true(o.pc == NV_PC_SERIALIZED && o.exponent == 18);
	o = read_options("mode=bursts,pc@5");
	assert_true(o.pc == NV_PC_BURSTS && o.percent == NV_USUAL_PERCENT && o.exponent == 5);
	o = read_options("pc,mode=bursts@50");
	assert_true(o.percent == 50);
	assert_true(read_options("latency").latency && !read_options("pc").latency);
	o = read_options("pc,notimes,mode=continuous");
	assert_true(o.no_times && o.pc == NV_PC_CONTINUOUS);
	static const char *const wrong[][2] = {
		{"pc@4", "2^EXP"},
		{"pc@32", "2^EXP"},
		{"pc@", "2^EXP"},
		{"pc@1x", "2^EXP"},
		{"pc@99999999999999999999", "2^EXP"},
		{"pc,mode=fast", "no mode 'fast'"},
		{"pc,mode=", "no mode"},
		{"pc,mode=bursts@0", "1 to 50"},
		{"pc,mode=bursts@51", "1 to 50"},
		{"pc,mode=bursts@", "1 to 50"},
		{"mode=serialized", "only with pc"},
		{"notimes", "only with pc"},
		{"pc,mode=bursts,notimes", "with notimes"},
		{"pc,latency,notimes", "exclude each other"},
		{"yield", "has no option 'yield'"},
		{"pcs", "no option 'pcs'"},
		{"cupti=", "no option"},
		{"pc,,notimes", "no option ''"},
		{"pc,mode=serializedx", "no mode"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char why[256] = "";
		if (nv_options_read(wrong[i][0], &o, why, sizeof why) ||
		    !strstr(why, wrong[i][1]) || o.pc != NV_PC_OFF)
			fail_msg("%s: '%s'", wrong[i][0], why);
	}
}

/* ---- reasons and sums ---- */

static void test_reasons(void **state)
{
	(void)state;
	start_with("pc");
	struct nv_pc_reason a = nv_pc_reason_named("smsp__pcsamp_warps_issue_stalled_selected"),
			    b = nv_pc_reason_named("x_wait"),
			    c = nv_pc_reason_named("x_wait_not_issued");
	assert_int_equal(a.count, NV_PC_COUNT_SAMPLE);
	assert_int_equal(b.count, NV_PC_COUNT_SAMPLE);
	assert_int_equal(c.count, NV_PC_COUNT_NOT_ISSUED);
	assert_string_equal(seen.stall[a.number], "smsp__pcsamp_warps_issue_stalled_selected");
	assert_int_equal(seen.stall_flags[a.number], MSR_GPU_STALL_ISSUED);
	assert_int_equal(seen.stall_flags[b.number], 0);
	assert_int_equal(seen.stall_flags[c.number], MSR_GPU_STALL_ONLY_NOT_ISSUED);
	unsigned n = seen.n_stalls;
	assert_int_equal(nv_pc_reason_named("x_wait").number,
			 b.number); /* told once in the process */
	assert_int_equal(seen.n_stalls, n);
	assert_int_equal(nv_pc_reason_named("smsp__pcsamp_sample_count").count,
			 NV_PC_COUNT_NOTHING);
	assert_int_equal(nv_pc_reason_named("smsp__pcsamp_samples_data_dropped").count,
			 NV_PC_COUNT_NOTHING);
	assert_int_equal(nv_pc_reason_named("").count, NV_PC_COUNT_NOTHING);
}

static void test_session(void **state)
{
	(void)state;
	start_with("pc");
	assert_true(nv_pc_start());
	uint64_t crc = 0, hash2 = 0;
	cupti.crc("abc", 3, &crc);
	cupti.crc("abd", 3, &hash2);
	assert_true(crc && hash2 && crc != hash2);
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 1);
	assert_int_equal(cupti.period, 19); /* 132 units of 1.98 GHz: 498,504 a second */
	assert_int_equal(cupti.mode, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
	assert_int_equal(cupti.hardware, 16 << 20);
	assert_non_null(strstr(seen.note, "2^19 cycles"));
	work(100);
	assert_int_equal(seen.n_ranges, 0); /* nothing came */
	cupti.n_pcs = 2500; /* three calls */
	cupti.outside = 30;
	work(100);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->total, 7530);
	assert_int_equal(last_range()->recorded, 7500);
	assert_int_equal(last_range()->outside, 30);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 200 * MS);
	assert_int_equal(last_range()->period, 1 << 19);
	assert_int_equal(last_range()->samplers, 132);
	assert_int_equal(last_range()->context, 5);
	assert_int_equal(last_range()->flags, 0);
	assert_int_equal(seen.n_samples,
			 7500); /* three reasons for each; CUPTI's own sum is none */
	assert_int_equal(seen.last_id, 0);
	cupti.n_left = 10;
	end(true);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(last_range()->recorded, 30);
	CUuuid uuid;
	char path[128];
	device_uuid(&uuid, 0);
	int fd = nv_gpu_lock(&uuid, path, sizeof path); /* the GPU is free for others */
	assert_true(fd >= 0);
	nv_gpu_unlock(fd, &uuid);
	unsigned n = seen.n_ranges;
	seen.now_ns += 10 * MS;
	end(true); /* another step of the end, without work in between */
	assert_int_equal(seen.n_ranges, n);
	nv_shared.kernel_ns[0] += 5 * MS;
	end(true); /* ... and with */
	assert_int_equal(seen.n_ranges, n + 1);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 10 * MS);
	work(2000); /* an exec that failed: sampling goes on */
	assert_int_equal(cupti.n_enabled, 2);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 2000 * MS);
}

static void test_join(void **state)
{
	(void)state;
	start_with("pc,mode=serialized");
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.mode, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
	cupti.n_pcs = 2;
	cupti.correlation = 21;
	work(100);
	assert_int_equal(seen.function_code, 0); /* its module was not told of */
	assert_int_equal(seen.n_functions, 2);   /* so it is asked for again */
	assert_int_equal(seen.last_id, 42);      /* of the launch, as the callback had it */
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_SERIALIZED);
	uint64_t hash = 0;
	assert_true(nv_pc_start());
	cupti.crc("xyz", 3, &hash);
	nv_pc_code_loaded("xyz", 3, 9);
	CUpti_PCSamplingPCData p = {.cubinCrc = hash,
				    .functionIndex = 2,
				    .functionName = (char *)(uintptr_t) "f",
				    .pcOffset = 48};
	CUpti_PCSamplingData d = {.collectNumPcs = 1, .totalNumPcs = 1, .pPcData = &p};
	struct nv_pc_session s = {.context = CONTEXT};
	nv_pc_take(&s, &d);
	assert_int_equal(seen.function_code, 9);
	assert_string_equal(seen.function, "f");
	nv_pc_take(&s, &d);
	assert_int_equal(seen.n_functions, 3); /* known by hash and index */
}

/* ---- versions of CUPTI ---- */

static void test_version_numbers(void **state)
{
	(void)state;
	assert_int_equal(nv_version_of(18), 0); /* 11.8 */
	assert_int_equal(nv_version_of(19), 120000);
	assert_int_equal(nv_version_of(22), 120400);
	assert_int_equal(nv_version_of(25), 120600); /* no release */
	assert_int_equal(nv_version_of(28), 120901);
	assert_int_equal(nv_version_of(130001), 130001);
}

/* limit VERSION OPTIONS: the mode that is left, and whether it is said. */
static enum nv_pc_mode limited(unsigned version, const char *options, bool *is_said)
{
	start_with(options);
	nv.lib.version = version;
	nv_version_limit(&nv.options);
	*is_said = seen.note[0] != 0;
	return nv.options.pc;
}

static void test_version_limits(void **state)
{
	bool is_said;
	(void)state;
	assert_int_equal(limited(120600, "pc", &is_said), NV_PC_OFF);
	assert_true(is_said && strstr(seen.note, "CUPTI 12.6.0 cannot sample") &&
		    strstr(seen.note, "gpu=nvidia,pc,notimes"));
	assert_int_equal(limited(120800, "pc", &is_said), NV_PC_CONTINUOUS);
	assert_false(is_said);
	assert_int_equal(limited(120000, "pc,notimes", &is_said), NV_PC_CONTINUOUS);
	assert_false(is_said);
	assert_int_equal(limited(120300, "pc,notimes,mode=serialized", &is_said), NV_PC_CONTINUOUS);
	assert_true(is_said && strstr(seen.note, "mode=continuous"));
	assert_int_equal(limited(120400, "pc,notimes,mode=serialized", &is_said), NV_PC_SERIALIZED);
	assert_false(is_said);
	assert_int_equal(limited(120000, "", &is_said), NV_PC_OFF);
	assert_false(is_said);
}

/* Before 12.4 an element of the samples was shorter: by its end, and by no byte more. */
static void test_short_elements(void **state)
{
	(void)state;
	start_with("pc,notimes");
	nv.lib.version = 120300;
	cupti.is_old = true;
	nv_pc_context_made(CONTEXT);
	cupti.n_pcs = 2500;
	work(100);
	assert_int_equal(last_range()->recorded, 7500);
	assert_int_equal(seen.last_offset, 16 * 499);
	cupti.n_left = 10;
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(last_range()->recorded, 30);
}

/* The configuration's buffer was too small: what is missing is counted. Other numbers of the
 * reasons, as another chip has them. */
static void test_not_fitted(void **state)
{
	(void)state;
	start_with("pc");
	cupti.shift = 7;
	nv_pc_context_made(CONTEXT);
	cupti.n_left = NV_PC_ROOM + 100;
	end(true);
	assert_int_equal(last_range()->total, 3 * (NV_PC_ROOM + 100));
	assert_int_equal(last_range()->dropped, 300);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_NOT_FITTED);
}

/* ---- what goes wrong ---- */

static void test_refused(void **state)
{
	(void)state;
	start_with("pc");
	cupti.enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_non_null(strstr(seen.note, "CAP_SYS_ADMIN"));
	work(100);
	end(true);
	assert_int_equal(cupti.n_got + cupti.n_disabled + seen.n_ranges, 0);
	cupti.enable = CUPTI_ERROR_NOT_SUPPORTED;
	nv_pc_context_made(CONTEXT);
	assert_null(strstr(seen.note, "compute capability"));
	cupti.units = 6; /* and all other attributes */
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "compute capability 7.0 or later"));
	cupti.enable = CUPTI_SUCCESS; /* the lock was given back */
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 1);
}

static void test_attributes(void **state)
{
	(void)state;
	start_with("pc@12");
	cupti.bad_attribute = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
	cupti.bad_status = CUPTI_ERROR_INVALID_OPERATION;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "refuses the size of the hardware buffer"));
	assert_int_equal(cupti.n_disabled, 1);
	cupti.bad_attribute = 0;
	cupti.wrong_period = 11;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "than requested for the period"));
	assert_int_equal(cupti.n_disabled, 2);
	cupti.wrong_period = 0;
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.period, 12);
	assert_true(cupti.is_on);
}

static void test_overflow(void **state)
{
	(void)state;
	start_with("pc@30");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_OUT_OF_MEMORY;
	cupti.busy_until_ns =
		seen.now_ns +
		2000 * MS; /* Disable would wait for a kernel: not before it has ended */
	work(100);
	assert_int_equal(cupti.n_disabled, 0);
	unsigned n_tries = cupti.n_flushed;
	work(50); /* not tried each time */
	assert_int_equal(cupti.n_flushed, n_tries);
	work(2500);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(cupti.n_enabled, 2);
	assert_int_equal(cupti.period, 31);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL);
	assert_int_equal(last_range()->total, 0);
	assert_true(last_range()->end_ns - last_range()->start_ns >= 2650 * MS);
	assert_non_null(strstr(seen.note, "2^31 cycles"));
	work(100); /* and again: there is no longer period */
	work(500);
	assert_int_equal(cupti.period, 31);
	end(false);
	unsigned n = 0;
	for (unsigned i = 0; i < seen.n_ranges; i++)
		n += (seen.range[i].flags & MSR_GPU_RANGE_BUFFER_FULL) != 0;
	assert_true(n >= 2);
}

static void test_much_too_fast(void **state)
{
	(void)state;
	static const uint32_t periods[] = {6, 9, 12, 13};
	start_with("pc@5");
	nv_pc_context_made(CONTEXT);
	for (unsigned i = 0; i < 4; i++) {
		cupti.get = CUPTI_ERROR_OUT_OF_MEMORY;
		work(i < 3 ? 200 : 5000); /* the last one comes much later */
		assert_int_equal(cupti.period, periods[i]);
	}
	cupti.get = CUPTI_SUCCESS;
	nv_shared.kernel_ns[0] = 1500 * MS;
	end(true);
	assert_null(strstr(seen.note,
			   "no sample although kernels ran")); /* that there is none was said */
}

/* The last asking before the end: what is lost is said all the same. */
static void test_overflow_at_end(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_OUT_OF_MEMORY;
	seen.now_ns += 50 * MS;
	end(true);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 50 * MS);
	leave(NULL);
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_UNKNOWN;
	end(true);
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	cupti.is_on = false;
}

/* As the second process on a GPU is answered: nothing more is asked of CUPTI, which crashes. */
static void test_dead(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_UNKNOWN;
	work(100);
	assert_non_null(strstr(seen.note, "has stopped: CUPTI_ERROR_UNKNOWN"));
	unsigned n = cupti.n_got;
	work(100);
	end(true);
	assert_int_equal(cupti.n_got, n);
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(cupti.n_disabled, 0);
}

static void test_rate(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.outside = 2000000; /* in 0.1 s */
	work(100);
	end(true);
	assert_non_null(strstr(seen.note, "more samples than its period allows"));
	leave(NULL);
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	work(100);
	nv_shared.kernel_ns[0] = 1500 * MS;
	end(true);
	assert_non_null(strstr(seen.note, "no sample although kernels ran"));
}

static void test_outside(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.n_pcs = 1000;
	cupti.outside = 100;
	work(100);
	assert_null(strstr(seen.note, "could not attribute"));
	end(true);
	assert_non_null(strstr(seen.note, "could not attribute 3.2 % of the PC samples"));
	assert_non_null(strstr(seen.note, "pc,notimes"));
}

/* ---- contexts ---- */

static void test_contexts(void **state)
{
	(void)state;
	CUcontext other = (CUcontext)(uintptr_t)0x200;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	nv_pc_context_made(other);
	assert_int_equal(cupti.n_enabled, 1);
	assert_non_null(strstr(seen.note, "only the first context of a GPU"));
	nv_pc_context_gone(other);
	assert_int_equal(cupti.n_disabled, 0);
	cupti.n_pcs = 4;
	cupti.n_left = 5;
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(seen.range[0].recorded + last_range()->recorded, 27);
	nv_pc_context_made(other); /* now it may be */
	assert_int_equal(cupti.n_enabled, 2);
	nv_pc_context_gone(other);
	nv_shared.is_over = true; /* CUDA takes itself down at exit */
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 2);
}

/* While our thread is stuck in CUPTI: what it finds then is left alone. */
static void test_destroyed(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	assert_true(nv_guard_take(0));
	nv_pc_context_gone(CONTEXT);
	nv_guard_give();
	cupti.get = CUPTI_ERROR_UNKNOWN;
	unsigned n = cupti.n_got;
	work(100);
	end(true);
	assert_int_equal(cupti.n_got, n);
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT);
	assert_non_null(strstr(seen.note, "destroyed while CUPTI did not answer"));
	cupti.is_on = false;
	nv_pc_context_made(CONTEXT); /* another one at the same place */
	assert_int_equal(cupti.n_enabled, 2);
	assert_true(nv_guard_take(0)); /* the next one is made before anybody has looked */
	nv_pc_context_gone(CONTEXT);
	nv_guard_give();
	cupti.is_on = false;
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 3);
}

/* Kernels run when the process ends: what CUPTI keeps is in no count, and that is in one. */
static void test_running_at_end(void **state)
{
	(void)state;
	static const char *const modes[] = {"pc", "pc,mode=serialized"};
	for (unsigned i = 0; i < 2; i++) {
		start_with(modes[i]);
		nv_pc_context_made(CONTEXT);
		work(100);
		seen.now_ns += 50 * MS;
		end(false);
		assert_int_equal(cupti.n_disabled, 0);
		assert_int_equal(seen.n_ranges, 1);
		assert_int_equal(last_range()->flags & (MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT),
				 MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT);
		assert_int_equal(last_range()->end_ns, seen.now_ns);
		assert_int_equal(last_range()->end_ns - last_range()->start_ns, 150 * MS);
		assert_non_null(strstr(seen.note, "kernels are still running"));
		end(false); /* the next step of the end */
		assert_int_equal(seen.n_ranges, 2);
		assert_int_equal(last_range()->flags & MSR_GPU_RANGE_CUT, 0);
		leave(NULL);
	}
	start_with("pc"); /* the last asking finds the buffer full */
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_OUT_OF_MEMORY;
	seen.now_ns += 50 * MS;
	end(false);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->flags,
			 MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT | MSR_GPU_RANGE_BUFFER_FULL);
}

/* Somebody is stuck in CUPTI with the guard. */
static void test_give_up(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.n_pcs = 10;
	work(100);
	seen.now_ns += 70 * MS;
	nv_pc_give_up();
	assert_int_equal(seen.n_ranges, 2);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_CUT);
	assert_int_equal(last_range()->context, 5);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 70 * MS);
	cupti.n_pcs = 10; /* he comes back */
	work(30);
	assert_int_equal(last_range()->recorded, 30);
	assert_int_equal(last_range()->start_ns, seen.range[1].end_ns);
	nv_pc_context_gone(CONTEXT);
	unsigned n = seen.n_ranges;
	nv_pc_give_up(); /* nothing is sampled any more */
	assert_int_equal(seen.n_ranges, n);
}

static void test_lock(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	CUuuid uuid;
	char path[128];
	device_uuid(&uuid, 0);
	assert_int_equal(nv_gpu_lock(&uuid, path, sizeof path), -1);
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(access(path, F_OK), -1); /* nothing is left behind */
	int fd = nv_gpu_lock(&uuid, path, sizeof path);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	nv_pc_context_made(CONTEXT); /* as if another process had it */
	assert_int_equal(cupti.n_enabled, 1);
	assert_non_null(strstr(seen.note, "another process samples this GPU"));
	assert_non_null(strstr(seen.note, path));
	assert_int_equal(unlink(path), 0);
	int next =
		nv_gpu_lock(&uuid, path, sizeof path); /* a file that is no more locks nobody out */
	assert_true(next >= 0);
	close(fd);
	nv_gpu_unlock(next, &uuid);
	assert_int_equal(access(path, F_OK), -1);
	mode_t mask = umask(077);
	fd = nv_gpu_lock(&uuid, path, sizeof path);
	umask(mask);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444); /* should it be left behind */
	int pipes[2];
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dup2(pipes[0], fd), fd); /* the program takes the number */
	nv_gpu_unlock(fd, &uuid);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0); /* somebody's trick */
	assert_int_equal(nv_gpu_lock(&uuid, path, sizeof path), -2);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test_teardown(test_session, leave),
		cmocka_unit_test_teardown(test_join, leave),
		cmocka_unit_test(test_version_numbers),
		cmocka_unit_test(test_version_limits),
		cmocka_unit_test_teardown(test_short_elements, leave),
		cmocka_unit_test_teardown(test_not_fitted, leave),
		cmocka_unit_test_teardown(test_refused, leave),
		cmocka_unit_test_teardown(test_attributes, leave),
		cmocka_unit_test_teardown(test_overflow, leave),
		cmocka_unit_test_teardown(test_overflow_at_end, leave),
		cmocka_unit_test_teardown(test_much_too_fast, leave),
		cmocka_unit_test_teardown(test_dead, leave),
		cmocka_unit_test_teardown(test_rate, leave),
		cmocka_unit_test_teardown(test_outside, leave),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test_teardown(test_destroyed, leave),
		cmocka_unit_test(test_lock),
		cmocka_unit_test_teardown(test_running_at_end, leave),
		cmocka_unit_test_teardown(test_give_up, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
