#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Starting programs: exec, vfork, posix_spawn, system, popen, scripts. Each program sees the
# arguments and the environment that it was given, each is measured, and programs that cannot take
# the library run as they would without us.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

sacred "every way to start a program" "$W/sacred_exec"
sacred_sampled "every way: the measurements are sound"
# one for each image: 10 programs by fork, 3 failing children, 20 by vfork, 2 spawned, shells and
# what they start
n=$("$builddir/tests/workload/run/run_check" "$T"/m/*.hpcrun | grep -c '^file ')
within "every process is recorded" "$n" 55 80

sacred "a chain of 20 programs, with threads" "$W/sacred_chain" 20
sacred_sampled "a chain of 20 programs: the measurements are sound"
is "... and of one process" "$(find "$T/m" -name '*.hpcrun' | wc -l)" 21

# shellcheck disable=SC2016 # for the inner shell
sacred "nested shells and pipes" sh -c \
	'for i in 1 2 3; do (echo $i; sh -c "exit $i"; echo $?) | cat | sort -r; done; exec sh -c "exit 5"'

cat >"$T/script" <<'SCRIPT'
#!/usr/bin/env sh
echo "script $0 $1" | sed 's,/.*/,,'
exit 4
SCRIPT
chmod +x "$T/script"
sacred "a script with an interpreter found by env" "$T/script" argument
printf 'echo "no interpreter $1"; exit 3\n' >"$T/plain-script"
chmod +x "$T/plain-script"
sacred "a script without an interpreter" sh -c "$T/plain-script argument; echo \$?"
"$HPCRUN" -q -o "$T/s" "$T/plain-script" direct >"$T/out"
is "... started directly" "$? $(cat "$T/out")" "3 no interpreter direct"

# What cannot take the library must not trip over it: a 32-bit dynamic linker would print an error,
# a static program show our variables.
if ${CC:-cc} -static -o "$T/static" "$srcdir/tests/workload/sacred/sacred_static.c" \
	2>/dev/null; then
	sacred "a static program started by a measured one" sh -c "$T/static environment; echo \$?"
else
	skip "a static program started by a measured one" "the compiler cannot link statically"
fi

# Where the library or the measurement cannot be opened, the dynamic linker would print an error.
UNREACHED='not measured: 1 process of .*another root directory or user.*of CPU time'
mkdir "$T/root"
for file in $(ldd "$W/sacred_chain" | grep -o '/[^ )]*') "$(command -v sleep)"; do
	mkdir -p "$T/root${file%/*}" && cp -L "$file" "$T/root$file"
done
sleep=$(command -v sleep)
if unshare -r chroot "$T/root" "$sleep" 0 2>/dev/null; then
	for how in "exec chroot" chroot; do
		sacred "a program in another root directory: $how" \
			unshare -r sh -c "$how '$T/root' '$sleep' 0.01; exit \$?"
		like "... is named" "$("$HPCPROF" -q --to text "$T/m" 2>&1)" \
			"not measured: 1 process of $sleep .another root directory"
	done
	# A child that bwrap makes past libc, in a file system of its own.
	if have bwrap && bwrap --bind "$T/root" / "$sleep" 0 2>/dev/null; then
		sacred "a program of bwrap" bwrap --bind "$T/root" / "$sleep" 0.01
		like "... is named" "$("$HPCPROF" -q --to text "$T/m" 2>&1)" "$UNREACHED"
	else
		skip "a program of bwrap" "it does not work here"
	fi
else
	skip "a program in another root directory" "user namespaces are not allowed here"
fi
# shellcheck disable=SC2016 # for the inner shell
"$HPCRUN" -q -o "$T/moved" sh -c 'mv "$T/moved" "$T/away"; sh -c "exit 3"; echo $?' >"$T/out" 2>&1
is "a program from which the measurement is out of reach" "$(cat "$T/out")" 3
like "... is named" "$("$HPCPROF" -q --to text "$T/away" 2>&1)" "$UNREACHED"

if have python3; then
	sacred "python's subprocesses" python3 -c '
import os, subprocess, sys
print(subprocess.run(["sh", "-c", "echo in a shell; exit 4"], close_fds=True).returncode)
print(subprocess.run("echo through a shell", shell=True, start_new_session=True).returncode)
print(subprocess.check_output(["env"], env={"ONLY": "this", "PATH": os.environ["PATH"]}).decode().count("ONLY"))
print(os.popen("echo popen").read(), os.system("exit 3"))
p = subprocess.Popen(["sleep", "100"]); p.terminate(); print(p.wait())
child = os.fork()
if child == 0:
    os._exit(9)
print(os.waitpid(child, 0)[1])
sys.stdout.flush()
os.closerange(3, 5000)
os._exit(7)'
fi

# Arguments that fit without our entries in the environment, and not with them: the program is
# started, and not measured.
if have python3; then
	cat >"$T/full.py" <<'CODE'
import os, subprocess, sys
how = sys.argv[1]
def run(n, rest):
    arguments = ["/bin/true"] + ["x" * 100000] * n + ["y" * rest]
    if how == "exec":
        return subprocess.run(arguments).returncode
    return os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn("/bin/true", arguments, os.environ), 0)[1])
def fits(n, rest):
    try:
        return run(n, rest) == 0
    except OSError:
        return False
# the most that the kernel takes, by trying without us: as many arguments as fit, then one that fills the rest
if how == "most":
    n, rest = 10, 0
    while fits(n + 1, 0):
        n += 1
    for step in (1 << bit for bit in range(16, 6, -1)):
        rest += step if fits(n, rest + step) else 0
    print(n, rest)
    sys.exit()
try:
    print(run(int(sys.argv[2]), int(sys.argv[3])))
except OSError as e:
    print(e.strerror)
CODE
	most=$(python3 "$T/full.py" most)
	for how in exec spawn; do
		# shellcheck disable=SC2086 # two numbers
		sacred "$how with as many arguments as there may be" python3 "$T/full.py" "$how" \
			$most
	done
else
	skip "exec with as many arguments as there may be" "no python3 here"
	skip "spawn with as many arguments as there may be" "no python3 here"
fi

# Programs that start the next one past our hooks, with samples pending: the hook is absent, so the
# program puts our variables back by itself. What it becomes is measured.
"$HPCRUN" -q -o "$T/e" cat /proc/self/environ | tr '\0' '\n' >"$T/environment"
AGAIN_PRELOAD=$(sed -n 's/^LD_PRELOAD=//p' "$T/environment")
export AGAIN_PRELOAD
# again WAY MS EVENT: one test
again() {
	n=$(thorough 20 2500)
	rm -rf "$T/m"
	"$HPCRUN" -q -e "$3" -o "$T/m" cat /proc/self/environ | tr '\0' '\n' >"$T/environment"
	AGAIN_CONFIG=$(sed -n 's/^HPCTOOLKIT_LITE=//p' "$T/environment")
	export AGAIN_CONFIG
	run_limited $((60 + n)) env LD_PRELOAD="$AGAIN_PRELOAD" HPCTOOLKIT_LITE="$AGAIN_CONFIG" \
		"$W/sacred_winch" exec "$n" "$1" "$2" >"$T/out" 2>&1
	is "$n times exec by $1, $3" "$? $(cat "$T/out") $(find "$T/m" -name '*.hpcrun' | wc -l)" \
		"0 done $((n + 2))"
}
again raw 5 CPUTIME@f10000
again handle 5 CPUTIME@f1000
again raw-thread 5 CPUTIME@f10000
again raw-vfork 5 CPUTIME@f10000
again number 5 CPUTIME@f10000
again fexecve 5 CPUTIME@f10000
again raw 2 REALTIME@f10000
again raw 2 OFFCPU
again handle 2 perf::PAGE-FAULTS@10
done_testing
