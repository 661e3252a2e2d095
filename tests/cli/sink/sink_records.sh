#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page of records and the schema of the JSON are those of the tables of fields, and the exports
# have the same records with the same values. --accept writes the page and the schema:
# sink_records.sh --accept BUILD-FOLDER, from the top of the sources.
if [ "${1:-}" = --accept ]; then
	"$2/tests/unit/sink/describe_records" page >doc/formats/records.md &&
		"$2/tests/unit/sink/describe_records" schema \
			hpcprof-lite/sink/json/advice.schema.json >doc/formats/profile.schema.json
	exit
fi
. "${srcdir:-.}/tests/lib.sh"

DESCRIBE=$builddir/tests/unit/sink/describe_records
ok "the page is written" sh -c "\"$DESCRIBE\" page >\"$T/page\""
same "doc/formats/records.md has the fields" "$srcdir/doc/formats/records.md" "$T/page"
ok "the schema is written" sh -c "\"$DESCRIBE\" schema \
	\"$srcdir/hpcprof-lite/sink/json/advice.schema.json\" >\"$T/schema\""
same "profile.schema.json has the fields" "$srcdir/doc/formats/profile.schema.json" "$T/schema"

if have "${PYTHON3:-python3}"; then
	outputs=text,json
	case ,$OUTPUTS, in *,sqlite,*) outputs=$outputs,sqlite ;; esac
	# agree NAME MEASUREMENT: the exports of it
	agree() {
		rm -rf "$T/db"
		"$HPCPROF" -q --no-structs --to $outputs --all -o "$T/db" "$2" >"$T/all" 2>"$T/err"
		ok "$1: --all, JSON and SQLite have the same" "${PYTHON3:-python3}" \
			"$srcdir/tests/judge/compare_exports.py" "$T/all" "$T/db"
	}
	# unpack NAME FILES: golden measurements
	unpack() {
		mkdir "$T/$1"
		for packed in "$srcdir/tests/golden/$2"*.hpcrun.gz; do
			gzip -dc "$packed" >"$T/$1/$(basename "$packed" .gz)"
		done
	}
	unpack nccl nccl/
	unpack pc nvidia/mixed-serialized
	unpack energy energy/
	unpack torch torch_gpu/
	agree "two ranks" "$srcdir/tests/golden/prof/job"
	agree "OpenCL, killed" "$srcdir/tests/golden/prof/gpu-killed"
	agree "NCCL" "$T/nccl"
	agree "PC samples" "$T/pc"
	agree "energy" "$T/energy"
	agree "NVTX" "$T/torch"
	sed 's/^\(process	0	[^	]*	\)/\11/' "$T/all" >"$T/changed"
	not_ok "the comparison sees another number" "${PYTHON3:-python3}" \
		"$srcdir/tests/judge/compare_exports.py" "$T/changed" "$T/db"
fi
done_testing
