/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/load/load_running.c: this process runs, and others that have its number, an
 * ended child or a process of another host do not count as running.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/now.h"
#include "hpcprof-lite/load/load_running.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

/* Of a measurement of that process that begins now. */
static struct msr_header header_of(pid_t pid)
{
	struct msr_header h = {.pid = (uint32_t)pid};
	gethostname(h.host, sizeof h.host - 1);
	h.start_mono_ns = h.process_start_ns = now_mono_ns();
	return h;
}

static void test_this_process(void **state)
{
	struct msr_header h = header_of(getpid());
	(void)state;
	assert_int_equal(load_is_running(&h), LOAD_RUNS);
	h.end_mono_ns = h.start_mono_ns + 1;
	assert_int_equal(load_is_running(&h), LOAD_ENDED);
}

static void test_another_process(void **state)
{
	struct msr_header h = header_of(getpid());
	(void)state;
	h.start_mono_ns -= 10 * SECOND_NS; /* this process began later: it got the number again */
	h.process_start_ns = h.start_mono_ns;
	assert_int_equal(load_is_running(&h), LOAD_ENDED);
}

/* Of a process that is older than its measurement, the mappings say whether it has one. */
static void test_old_process(void **state)
{
	struct msr_header h = header_of(getpid());
	char path[] = "/tmp/test_load_running.XXXXXX.hpcrun";
	(void)state;
	h.start_mono_ns += 10 * SECOND_NS;
	h.process_start_ns = h.start_mono_ns;
	assert_int_equal(load_is_running(&h), LOAD_ENDED);
	const int fd = mkstemps(path, (int)strlen(MSR_SUFFIX));
	assert_true(fd >= 0 && ftruncate(fd, 4096) == 0);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(load_is_running(&h), LOAD_RUNS);
	munmap(at, 4096);
	close(fd);
	unlink(path);
}

static void test_ended_child(void **state)
{
	const pid_t pid = fork();
	(void)state;
	if (pid == 0)
		_exit(0);
	const struct msr_header h = header_of(pid);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(load_is_running(&h), LOAD_ENDED); /* a zombie */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(load_is_running(&h), LOAD_ENDED);
}

static void test_other_host(void **state)
{
	struct msr_header h = header_of(getpid());
	(void)state;
	h.host[0] ^= 1;
	assert_int_equal(load_is_running(&h), LOAD_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_process), cmocka_unit_test(test_another_process),
		cmocka_unit_test(test_old_process),  cmocka_unit_test(test_ended_child),
		cmocka_unit_test(test_other_host),
	};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
