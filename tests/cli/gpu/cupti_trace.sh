#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia from end to end, on a driver and a CUPTI that do not exist
# (tests/gpu/fake/fake_cuda.c): every kind of call is launched, joined and summed up as the program
# counted it, and what cannot be had is said exactly. tests/gpu/trace.sh asks the same of a GPU.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

"$HPCRUN" -L >list
like "-L lists the device" "$(cat list)" \
	'^ +GPU 0: Fake GPU, 12 units, 1.0 GiB, compute capability '
like "... driver and CUPTI" "$(tr -s ' \n' ' ' <list)" \
	' driver [0-9. ]*for CUDA 13.0 CUPTI 13\.0\.1, /'
# What is missing for GPUs is said as the files of the kernel say it.
# with_files PARAMETERS COMMAND...: as root of a container in which the driver and RAPL have files
with_files() {
	# shellcheck disable=SC2016 # expanded by that shell
	unshare -m sh -c 'mount -t tmpfs x /proc/driver && mount -t tmpfs x /sys/class &&
		mkdir -p /proc/driver/nvidia /sys/class/powercap/intel-rapl:0 &&
		echo "RmProfilingAdminOnly: $1" >/proc/driver/nvidia/params &&
		echo "NVRM version: NVIDIA UNIX  580.1.2  x" >/proc/driver/nvidia/version &&
		cd /sys/class/powercap/intel-rapl:0 && echo package-0 >name &&
		echo 5 >energy_uj && chmod 400 energy_uj && shift && exec "$@"' sh "$@"
}
if [ "$(id -u)" -eq 0 ] && with_files 1 true 2>err && have setpriv && public_tools; then
	cd / # where every user may be
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	# shellcheck disable=SC2086 # words
	with_files 1 $nobody "$HPCRUN" -L >"$T/list" 2>"$T/err"
	like "rights: an ordinary user has no samples" "$(cat "$T/list")" \
		'^  nvidia     1 GPU: kernels, copies, waits, energy$'
	like "... why" "$(cat "$T/list")" \
		'^  PC samples, counters: only root may read counters \(RmProfilingAdminOnly: 1\)$'
	like "... the cure" "$(cat "$T/list")" \
		'^      /etc/modprobe.d: options nvidia NVreg_RestrictProfilingToAdminUsers=0$'
	like "... and no energy of the host" "$(cat "$T/list")" \
		'^  energy of the host: only root may read RAPL$'
	like "... whose version is that of the files" "$(cat "$T/list")" ' driver 580.1.2 for CUDA '
	# shellcheck disable=SC2086 # words
	with_files 0 $nobody "$HPCRUN" -L >"$T/list" 2>"$T/err"
	like "rights: with the option everyone has samples" "$(cat "$T/list")" \
		'^  nvidia     1 GPU: kernels, copies, waits, PC samples, counters, energy$'
	with_files 1 setpriv --bounding-set=-sys_admin,-perfmon "$HPCRUN" -L >"$T/list" 2>"$T/err"
	like "rights: root of a container" "$(cat "$T/list")" \
		'^      start the container with --cap-add SYS_ADMIN$'
	with_files 1 "$HPCRUN" -L >"$T/list" 2>"$T/err"
	unlike "rights: root" "$(cat "$T/list")" 'PC samples, counters:|energy of the host:'
	with_files 1 env LD_LIBRARY_PATH= "$HPCRUN" -L >"$T/list" 2>"$T/err"
	like "a driver of the kernel alone" "$(cat "$T/list")" \
		'^  work of GPUs: libcuda.so.1 is not found; the kernel has its driver$'
	is "... in 80 columns" "$(sed '/^PAPI/,$d' "$T/list" | awk 'length > 80')" ""
	cd "$T" || exit 99
else
	skip "rights" "needs root, mount namespaces and setpriv"
fi
FAKE_CUDA=no-energy "$HPCRUN" -L >list
like "a GPU without a meter" "$(cat list)" '^  energy of GPUs \(NVML\): Not Supported$'
LD_LIBRARY_PATH='' "$HPCRUN" -L >list
unlike "without a driver nobody misses anything of GPUs" "$(sed '/^Events:/,$d' list)" \
	'GPU|CUPTI|NVML|RAPL'

# events also measure how long the machine let us wait
SLACK=0.9
. "$srcdir/tests/gpu/ways.sh"
is "times: as long as they were asked for" "$(of_kernel times spin seconds)" 0.21

like "the path ends at the call of the driver" "$("$HPCPROF" m-paths 2>/dev/null)" 'cuLaunchKernel '
is "the two paths of one kernel" "$("$HPCPROF" m-paths 2>/dev/null | grep -oE 'often|seldom' |
	sort -u | wc -l)" 2

# nothing of us is in the environment, and the user's own library is loaded
is "the variable is not in the environment" \
	"$("$HPCRUN" -q -e gpu=nvidia -o m-env env 2>/dev/null | grep -c CUDA_INJECTION)" 0
CUDA_INJECTION64_PATH=/nowhere/theirs.so "$HPCRUN" -v -e CPUTIME -e gpu=nvidia -o m-theirs \
	"$CUDA_CALLS" paths >out 2>err
like "another library of the user's is named" "$(cat err)" \
	'gpu=nvidia: CUDA_INJECTION64_PATH names /nowhere/theirs.so, which cannot be loaded'

# when kernels were queued and submitted is known on demand: in this order, before they start
"$HPCRUN" -q -e gpu=nvidia,latency -o m-latency "$CUDA_CALLS" paths >out-latency 2>/dev/null
"$HPCPROF" --to text --all m-latency >all-latency 2>/dev/null
# stamps DIR: kernels by what is known of them
stamps() {
	by_name '
		$1 == "gpu-op" && get("kind") == "kernel" {
			is_ordered = get("enter_ns") <= get("queued_ns") &&
				get("queued_ns") <= get("submitted_ns") &&
				get("submitted_ns") <= get("start_ns")
			n[get("queued_ns") ? is_ordered ? "ordered" : "disordered" : "unknown"]++ }
		END { for (k in n) print k, n[k] }' "all-$1"
}
is "when kernels were queued and submitted" "$(truth latency kernel) $(stamps latency)" \
	"40 ordered 40"
is "which is not asked for otherwise" "$(stamps paths)" "unknown 40"
like "not beside notimes" "$("$HPCRUN" -e gpu=nvidia,pc,notimes,latency true 2>&1)" \
	"latency and notimes exclude each other"

# what goes wrong is said, and the program goes on
for how in subscribed old; do
	FAKE_CUDA=$how "$HPCRUN" -v -e CPUTIME -e gpu=nvidia -o "m-$how" "$CUDA_CALLS" paths \
		>"out-$how" 2>"err-$how"
	is "$how: the program goes on" "$? $(truth "$how" kernel)" "0 40"
done
like "another subscriber, by its name" "$(cat err-subscribed)" \
	'gpu=nvidia: another tool uses CUPTI, which supports only one: CUPTI for somebody; only the CPU is measured'
like "an old CUPTI" "$(cat err-old)" \
	'gpu=nvidia: .*libcu.* is too old: CUPTI of CUDA 12 or 13 \(libcupti.so.12, libcupti.so.13\) is needed'
mv fake/libcupti.so.13 fake/elsewhere.so
"$HPCRUN" -v -e CPUTIME -e gpu=nvidia,cupti="$T/fake/elsewhere.so" -o m-elsewhere "$CUDA_CALLS" \
	paths >out-elsewhere 2>err-elsewhere
"$HPCPROF" --to text --all m-elsewhere >all-elsewhere 2>err
is "CUPTI where the user says it is" "$(launched elsewhere kernel)" 40
like "no option of that name" "$("$HPCRUN" -e gpu=nvidia,cupti true 2>&1)" \
	"gpu=nvidia has no option 'cupti'"
mv fake/elsewhere.so fake/libcupti.so.13

# a graph of which some nodes were not done at the end: it is joined, and the others are lost and
# said to be; summed up too
for memory in 1M 0; do
	OPTIONS="--gpu-memory $memory" NAME=graphend-$memory
	measured graphend
	is "graphend, $memory: launched and joined" \
		"$(launched $NAME graph) $(($(joined $NAME graph) + $(lost $NAME never-done)))" \
		"1 1"
	is "graphend, $memory: nodes that were done and others" \
		"$(($(of_kernel $NAME empty launches) + $(graph_lost $NAME never-done)))" \
		"$(truth $NAME graph-ops)"
	is "graphend, $memory: those behind the first" "$(graph_lost $NAME never-done)" 3
	like "graphend, $memory: said" "$("$HPCPROF" m-$NAME 2>/dev/null)" \
		'also lost 3 operations of graphs, never-done: not complete when the process ended'
done
OPTIONS='' NAME=''

# CUPTI drops records: all are counted
export FAKE_CUDA=dropping
measured paths
is "dropped records are counted" "$(lost paths dropped)" 40

done_testing
