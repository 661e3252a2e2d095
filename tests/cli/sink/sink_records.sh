#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page of records and the schema of the JSON are those of the tables of fields. --accept writes
# them: sink_records.sh --accept BUILD-FOLDER, from the top of the sources.
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
done_testing
