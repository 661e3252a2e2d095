#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The CPU quota of a cgroup is in the report, and the use of processors is a share of it. The cgroup
# is a real one, of whichever version has the cpu controller here.

. "${top_srcdir:-.}/tests/lib.sh"

cd "$T" || exit 99
cat >two.c <<'END'
#include <pthread.h>
#include <time.h>
static void *work(void *unused)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 150000000);
	return unused;
}
int main(void)
{
	pthread_t other;
	if (pthread_create(&other, NULL, work, NULL) != 0)
		return 1;
	work(NULL);
	return pthread_join(other, NULL);
}
END
${CC:-cc} -O1 -g -pthread -o two two.c || skip_all "no compiler"

# limit CGROUP QUOTA: of a period of 100 ms, in us.
limit() {
	if [ -e "$1/cpu.max" ]; then
		echo "$2 100000" >"$1/cpu.max"
	else
		echo 100000 >"$1/cpu.cfs_period_us" && echo "$2" >"$1/cpu.cfs_quota_us"
	fi
} 2>/dev/null

outer=
for mount in /sys/fs/cgroup /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
	one=$mount/hpctoolkit-lite-test.$$
	[ -e "$mount/cgroup.procs" ] && mkdir "$one" 2>/dev/null || continue
	# shellcheck disable=SC2064 # this cgroup
	at_exit "rmdir $one/inner $one"
	if [ "$mount" = /sys/fs/cgroup ]; then
		echo +cpu >"$one/cgroup.subtree_control" 2>/dev/null
	fi
	if mkdir "$one/inner" && limit "$one" 50000; then
		outer=$one
		break
	fi
	rmdir "$one/inner" "$one"
done
[ -n "$outer" ] || skip_all "no cgroup with a CPU quota can be made here"

# in_cgroup COMMAND...: in the inner cgroup, which has no quota of its own.
in_cgroup() {
	run_limited 120 sh -c "echo \$\$ >$outer/inner/cgroup.procs && exec \"\$@\"" sh "$@"
}
quotas() { "$HPCPROF" -q --to text --all "$1" | by_name '$1 == "quota" {
	print get("processors") }'; }

in_cgroup "$HPCRUN" -q -e CPUTIME -e OFFCPU -o outer -- ./two
is "status" $? 0
is "the quota of the cgroup around" "$(quotas outer)" 0.5
"$HPCPROF" -q --to text outer >report
n=$(nproc)
like "the head of the report names it" "$(cat report)" "^  CPU quota: 0\.5 of $n processor"
like "the use is a share of it" "$(cat report)" \
	"the CPU quota gives 0\.5, which was used .* of CPU time in 0\.5 x "
like "it is named where threads had no processor" "$(cat report)" \
	"ready, but without a processor; CPU quota"

limit "$outer/inner" 25000
in_cgroup "$HPCRUN" -q -o inner -- sh -c './two; :'
is "the tighter quota, of each process" "$(quotas inner | sort -u)" 0.25

"$HPCRUN" -q -o none -- ./two
unlike "the report names none" "$("$HPCPROF" -q --to text none)" "0\.5 of"

done_testing
