#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What instructions of GPU code wait for: kernels with known causes, named in their source; the
# decoder against nvdisasm's text, kept and, where nvdisasm is installed, made again; the rules that
# compilers obey, over all golden cubins; damage.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/cubin
judge=$builddir/tests/struct/judge_sass
[ -x "$judge" ] || skip_all "no tests/struct/judge_sass"

make_structure() {
	"$HPCSTRUCT" -v -f --no-cache -o "$T/s" "$1" >"$T/said" 2>&1
}

# Prints what the source of depend.cu expects and the print does not have.
expected() { # SOURCE PRINT
	awk '
	FNR == NR {
		line = FNR
		if (/\/\/.*after /) {
			name = $0; sub(/.*after /, "", name)
			wants[line] = name
			carried[line] = /carried after/
		}
		if (match($0, /\/\/ [a-z]*:/))
			place[line] = substr($0, RSTART + 3, RLENGTH - 4)
		next
	}
	/^waits$/ { in_waits = 1; next }
	!in_waits { next }
	/^  0x/ {
		at = $2; sub(/.*depend.cu:/, "", at)
		is_first = 1
		next
	}
	# the first cause other than a fixed latency
	is_first && !/^    latency/ {
		is_first = 0
		for (i = 1; i <= NF; i++)
			if ($i ~ /depend.cu:/) { cause = $i; sub(/.*depend.cu:/, "", cause) }
		good = ($1 == "result" && / used/) || $1 == "warps"
		if ((at in wants) && place[cause] == wants[at] && good &&
			(/ carried/ ? 1 : 0) == carried[at])
			found[at] = 1
	}
	END {
		for (line in wants) {
			n++
			if (!(line in found))
				print "line " line ": no wait after " wants[line]
		}
		if (n < 7)
			print "only " n + 0 " waits in the source"
	}' "$1" "$2"
}

for arch in 75 90 120; do
	make_structure "$golden/depend.sm_$arch.lineinfo.cubin"
	"$HPCSTRUCT" --print "$T/s" >"$T/print"
	expected "$golden/src/depend.cu" "$T/print" >"$T/missing"
	is "sm_$arch: the causes that the source names" "$(cat "$T/missing")" ""
done
# the test itself must be able to fail
sed 's/result of global load/result of shared load/; s/ used//' "$T/print" >"$T/changed"
expected "$golden/src/depend.cu" "$T/changed" >"$T/missing"
like "causes that are not used are missed" "$(cat "$T/missing")" "no wait after chase"

# A barrier that is waited for has been set on a path to the wait. With -G and -O0 every instruction
# waits for all barriers.
for cubin in "$golden"/*.cubin; do
	case $cubin in
	*.G.* | *.O0.*) continue ;;
	esac
	make_structure "$cubin"
	grep 'waits for a barrier' "$T/said"
done | awk '
	{
		for (i = 2; i <= NF; i++) {
			if ($i == "waits") waits += $(i - 1)
			if ($i == "with") explained += $(i - 1)
			if ($i == "perhaps") entered += $(i - 1)
			if ($i == "searches") cut += $(i - 1)
		}
	}
	END { print waits, explained, entered, cut }' >"$T/counts"
read -r waits explained entered cut <"$T/counts"
diag "$waits waits, $explained explained, $entered perhaps for a caller, $cut cut short"
# now and then a compiler lets two instructions in a row wait for the same
ok "all but 0.5% have a cause, or may wait for a caller" \
	test $(((explained + entered) * 200)) -ge $((waits * 199))
ok "99% have a cause" test $((explained * 100)) -ge $((waits * 99))
ok "there are enough of them" test "$waits" -gt 1000
is "no search was cut short" "$cut" 0

for listing in "$golden"/*.sass; do
	name=${listing##*/}
	name=${name%.sass}
	ok "$name: registers and operations as nvdisasm says" "$judge" "$golden/$name.cubin" \
		"$listing"
	grep '^# ' "$T/.ok.out"
done
# a listing that says something else is noticed
sed 's/LDG/LDS/; s/R9/R10/' "$golden/depend.sm_90.lineinfo.sass" >"$T/wrong.sass"
not_ok "other registers" "$judge" "$golden/depend.sm_90.lineinfo.cubin" "$T/wrong.sass"

nvdisasm=$(command -v "${NVDISASM:-nvdisasm}" ||
	echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm")
if [ -x "$nvdisasm" ]; then
	for cubin in "$golden"/*.cubin; do
		name=${cubin##*/}
		NVDISASM=$nvdisasm sh "$golden/make-sass.sh" "$cubin" >"$T/sass" 2>"$T/err"
		if [ ! -s "$T/sass" ]; then
			skip "$name: as the installed nvdisasm says" "unknown architecture"
			continue
		fi
		ok "$name: as the installed nvdisasm says" "$judge" "$cubin" "$T/sass"
	done
else
	skip "as the installed nvdisasm says" "no nvdisasm"
fi
done_testing
