#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints that what others wrote reaches terminals and scripts through common/base/foreign alone: no
# plain printf of a name, path or message in what writes for people, and no second decision of what
# is harmless. Names that are the program's own are in the list at the end of each rule.
# Usage: foreign.sh [SOURCE-ROOT]. Speaks TAP.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
echo 1..5
n=0
report() { # NAME FINDINGS
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

# One line a call: what is broken over lines is joined first.
calls() { # FILE...
	for f; do
		awk -v f="$f" '{ sub(/^[ \t]+/, "") } /[,(?:&|]$/ { held = held $0 " "; next }
			{ print f ":" NR ": " held $0; held = "" }' "$f"
	done
}
# Members of the model and of measurements that hold text of others.
foreign='(->|\.)(name|path|host|event|title|command|executable|backend|entrance|driver|description|meaning|hint|limit|notes|linkage_name)\b'
plain='(^|[^a-z_])(v?f?printf|fputs|puts|fwrite|putc|fputc) ?\('
# Numbers and our own words that stand in a call with such a member.
own='msr_[a-z_]*name\(|\*p->name \? " thread|path\[0\] == |by %s\)", o->warps'

report "the text prints no name with plain printf" "$(calls hpcprof-lite/sink/text/*.c |
	grep -E "$plain" | grep -Ev 'snprintf\(|foreign_v?printf' | grep -E "$foreign" |
	grep -Ev "$own")"
report "nor do buffers of names reach it so" "$(calls hpcprof-lite/sink/text/*.c |
	grep -E "$plain" | grep -Ev 'snprintf\(|foreign_v?printf' |
	grep \
	-E '[(,] *\*?(name|function|module|file|place|where|line|stalls|host|path|node)(,|\))' |
	grep -Ev '":%u", line\)')"
report "nor --print of hpcstruct-lite, nor the lists of hpcrun-lite" \
	"$(calls hpcstruct-lite/driver/print.c hpcrun-lite/launch/*_client.c |
	grep -E "$plain" | grep -Ev 'snprintf\(|foreign_v?printf' |
	grep -E "$foreign|structure_(binary|debug_file|get_file)\(|[(,] *(name|line \+ 1, tab)\)" |
	grep -Ev 'facts\[i\]\.name|b->(name|about)')"
# Only common/safe/printable.c says what is harmful; only common/base prints messages.
report "one place decides what is harmless, one writes messages" "$(
	grep -nE '0x7f|0x9f|202[aeAE]' hpcprof-lite/sink/text/*.c common/base/log.c \
		hpcstruct-lite/driver/print.c
	grep -nE '(fprintf|fputs|vfprintf|fwrite)\(.*stderr' -r common hpcprof-lite hpcstruct-lite \
		hpcrun-lite/launch hpcrun-lite/replay --include=*.c |
		grep -v '^common/base/log\.c:')"
# What the run time writes to standard error is put together by text_put_foreign() where it is
# foreign.
# shellcheck disable=SC2046 # a list of files
report "nor does the run time's own report" "$(
	grep -nE \
		'text_put\([^,]*, *(process\.config\.directory|store_path\(\)|cause|text|!tally|.*entrance)' $(
		grep -lE '(text_write|say)\(' hpcrun-lite/runtime/*.c hpcrun-lite/runtime/*/*.c))"
