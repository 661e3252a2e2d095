# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The CCT database of a hand-made model: our own reader checks every pointer and sum, HPCToolkit's
# reader accepts it when HPCTESTTOOL names the directory it can be imported from, failures leave
# nothing behind.
. "${top_srcdir:-.}/tests/lib.sh"

FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
need "${PYTHON3:-python3}"

# write NAME ARGUMENTS...: writes a database to $T/NAME
write() {
	name=$1
	shift
	mkdir "$T/$name"
	"$FIXTURE" cctdb "$T/$name" "$@"
}

# judged DESCRIPTION ARGUMENTS...: the database reads through and its facts are those of the model
n=0
judged() {
	desc=$1
	shift
	n=$((n + 1))
	if write "db$n" "$@" && "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/db$n" >"$T/got"; then
		"$FIXTURE" sums - "$@" >"$T/want"
		ok "$desc" "$PYTHON3" "$JUDGE/compare_facts.py" "$T/got" "$T/want" profiles \
			total function samples
	else
		fail "$desc"
	fi
}

printf 'int main(void) { return 0; }\n' >"$T/main.c"
judged "two processes with ranks, three metrics, loops, a source file" loops=1 n_metrics=3 \
	source="$T/main.c"
judged "one thread without time line" n_processes=1 n_threads=1 n_metrics=1 ranks=0 traces=0
judged "many threads of processes without ranks" n_processes=5 n_threads=10 n_extra=60 \
	n_samples=100 ranks=0
judged "deep recursion" recursion=2000 n_samples=50 n_processes=1
judged "no samples at all" n_samples=0
printf '__kernel void saxpy(void) { }\n' >"$T/saxpy.cl"
judged "GPUs of two ranks: metrics, means, queues" n_gpu_ops=50 kernels="$T/saxpy.cl" loops=1
judged "GPUs of processes without ranks" n_gpu_ops=33 n_processes=3 n_threads=1 ranks=0
judged "one operation, no samples" n_gpu_ops=1 n_samples=0

same "the source of a kernel is copied, too" "$T/db6/src$T/saxpy.cl" "$T/saxpy.cl"
same "the source file is copied under its own path" "$T/db1/src$T/main.c" "$T/main.c"
not_ok "without time lines there is no trace.db" test -e "$T/db2/trace.db"
ok "with time lines there is" test -e "$T/db3/trace.db"

# The bytes do not depend on the number of threads that write.
write one loops=1 n_metrics=3 n_extra=40 n_samples=2000 workers=1
write four loops=1 n_metrics=3 n_extra=40 n_samples=2000 workers=4
ok "one worker and four write the same bytes" diff -r "$T/one" "$T/four"

# The system's Python has the YAML module where another in PATH may not.
for YAML_PYTHON in "$PYTHON3" /usr/bin/python3 none; do
	if "$YAML_PYTHON" -c 'import ruamel.yaml' 2>/dev/null; then break; fi
done

# What Hatchet's reader takes from default.yaml, with a real parser.
if [ "$YAML_PYTHON" != none ]; then
	ok "default.yaml is YAML and holds what Hatchet's reader asks for" "$YAML_PYTHON" - \
		"$T/db1/metrics/default.yaml" <<'PY'
import sys
import ruamel.yaml
with open(sys.argv[1], encoding="utf-8") as f:
    data = ruamel.yaml.YAML(typ="safe", pure=True).load(f)
assert data["version"] == 0
assert [r["name"] for r in data["roots"]] == ["CPUTIME (sec)", "REALTIME (sec)", "perf::PAGE-FAULTS"]
for root in data["roots"]:
    formula = root["variants"]["Sum"]["formula"]
    assert "percent" in root["variants"]["Sum"]["render"]
    assert formula["inclusive"]["standard"] == {"metric": root["name"], "scope": "execution", "formula": "$$", "combine": "sum"}
    assert formula["exclusive"]["standard"]["scope"] == "function"
    assert formula["exclusive"]["custom"]["scope"] == "lex_aware"
    for name in "Mean", "Min", "Max", "StdDev":
        assert root["variants"][name]["formula"]["inclusive"]["standard"]
PY
	ok "... with GPUs the parts behind the whole, means as quotients" "$YAML_PYTHON" - \
		"$T/db6/metrics/default.yaml" <<'PY'
import sys
import ruamel.yaml
with open(sys.argv[1], encoding="utf-8") as f:
    data = ruamel.yaml.YAML(typ="safe", pure=True).load(f)
roots = {r["name"]: r for r in data["roots"]}
assert [r["name"] for r in data["roots"]][2:6] == ["GPUOP (sec)", "GKER (sec)", "GXCOPY (sec)", "GSYNC (sec)"]
for name, root in roots.items():
    if name == "GKER:BLKS":
        # what is not in cct.db under this name may lack what Hatchet's reader asks for
        (variant,) = root["variants"].values()
        for kind, scope in ("inclusive", "execution"), ("exclusive", "function"):
            of, by = variant["formula"][kind]["standard"]["/"]
            assert (of["metric"], of["scope"], by["metric"], by["scope"]) == ("GKER:BLKS_ACUMU", scope, "GKER:COUNT", scope)
    else:
        assert "percent" in root["variants"]["Sum"]["render"]
        assert root["variants"]["Sum"]["formula"]["inclusive"]["standard"]["metric"] == name
        assert root["variants"]["Mean"]["formula"]["inclusive"]["standard"]["/"][1] == 4  # threads; queues have no values
        assert ("Min" in root["variants"]) == (not name.startswith("G"))  # measured in each thread
PY
else
	skip "default.yaml is YAML" "no ruamel.yaml here"
	skip "... with GPUs" "no ruamel.yaml here"
fi

if [ -n "${HPCTESTTOOL:-}" ] && [ "$YAML_PYTHON" != none ]; then
	for db in db1 db2 db3 db6 db7; do
		ok "HPCToolkit's own reader accepts $db" env PYTHONPATH="$HPCTESTTOOL" \
			"$YAML_PYTHON" -m hpctesttool.formats.print -s "$T/$db"
	done
	ok "... and sees its time lines and statistics" sh -c \
		"PYTHONPATH='$HPCTESTTOOL' '$YAML_PYTHON' -m hpctesttool.formats.print '$T/db1' >'$T/db1.yaml' && grep -q 'min / ' '$T/db1.yaml' && grep -q 'RANK 1 / THREAD 1' '$T/db1.yaml'"
	PYTHONPATH=$HPCTESTTOOL "$YAML_PYTHON" -m hpctesttool.formats.print "$T/db6" >"$T/db6.yaml"
	like "... and queues as streams of a device" "$(cat "$T/db6.yaml")" \
		'RANK 1 / GPUDEVICE 0 / GPUCONTEXT 0 / GPUSTREAM 2\}'
	like "... and kernels below their placeholder, called by the launch" \
		"$(cat "$T/db6.yaml")" '-call> \[function\] <gpu kernel>'
else
	skip "HPCToolkit's own reader" "HPCTESTTOOL does not name its directory, or no ruamel.yaml"
fi

# The judge must be able to say no.
breaks() {
	cp -R "$T/db1" "$T/broken"
	"$PYTHON3" - "$T/broken/$2" "$3" "$4" <<'PY'
import sys
path, offset, value = sys.argv[1], int(sys.argv[2], 0), int(sys.argv[3])
data = bytearray(open(path, "rb").read())
data[offset] = data[offset] + value & 255
open(path, "wb").write(data)
PY
	not_ok "the judge sees $1" "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/broken"
	rm -r "$T/broken"
}
breaks "a damaged footer" meta.db -1 1
breaks "another version" profile.db 14 1
breaks "a moved section" cct.db 0x18 8
breaks "a wrong value" profile.db -20 1
breaks "a wrong value by context" cct.db -12 1
breaks "a wrong time" trace.db 0xa7 1
cp -R "$T/db6" "$T/broken"
sed -i 's/"GKER:BLKS"/"GKER:BLOCKS"/' "$T/broken/metrics/default.yaml"
not_ok "the judge sees a mean of another name" "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/broken"
rm -r "$T/broken"

# Failures.
"$FIXTURE" cctdb "$T/one" 2>"$T/err" && rc=0 || rc=$?
is "an existing database is refused" "$rc" 1
like "... with the file and the cause" "$(cat "$T/err")" "^sink_fixture: $T/one/src: File exists$"
ok "... and left as it was" diff -r "$T/one" "$T/four"
mkdir "$T/ro"
"$FIXTURE" cctdb "$T/none" 2>"$T/err" && rc=0 || rc=$?
is "a directory that is not there is an error" "$rc" 1

if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" && mount -t tmpfs -o size=256k tmpfs "$T/full" \
	2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" cctdb "$T/full" n_extra=200 n_samples=20000 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/[a-z]*.db: No space left on device$"
	is "... said once" "$(wc -l <"$T/err")" 1
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi

# Memory does not grow with the time line: 4,000,000 samples would need 50 MB or more.
if grep -q 'fsanitize=' "$builddir/Makefile" 2>/dev/null &&
	grep -q '^HL_SANITIZE_CFLAGS = -' "$builddir/Makefile"; then
	skip "a long time line is written with little memory" "a sanitizer needs more"
else
	mkdir "$T/long"
	within "a long time line is written with little memory (KiB)" \
		"$("$FIXTURE" cctdb "$T/long" n_processes=1 n_threads=1 n_metrics=1 \
		n_samples=4000000 workers=1 peak=1)" 1000 40960
fi
done_testing
