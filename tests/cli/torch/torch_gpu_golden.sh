#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A training with PyTorch 2.11 on a GPU that is kept (tests/golden/torch_gpu): modules, backward
# passes below the forward line, NVTX. torch_gpu_golden.sh --accept writes the expected parts anew.
# needs: gen_names

. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=$srcdir/tests/golden/torch_gpu
HPCTOOLKIT_LITE_CACHE=$T/cache
export HPCTOOLKIT_LITE_CACHE
mkdir "$T/m"
for f in "$golden"/*.hpcrun.gz; do
	gzip -dc "$f" >"$T/m/$(basename "$f" .gz)" || exit 99
done
"$top_builddir/tests/gen/gen_names" "$T/m" "$golden/names.txt" || exit 99

# report OPTION...
report() { "$HPCPROF" -q --no-structs --to text "$@" "$T/m" 2>"$T/err"; }
# part NAME: of the report on standard input, up to an empty line
part() { sed -n "/^$1/,/^\$/p"; }
# kernels FUNCTION: the share of the time of kernels that is below contexts with this name
kernels() {
	"$HPCPROF" -q --no-structs --to folded -o "$T/folded" "$T/m" 2>"$T/err"
	awk -v name=";$1;" '{ n = $NF; sub(/ [^ ]*$/, ";"); all += n
		if (index($0, name)) is += n } END { printf "%.1f\n", 100 * is / all }' \
		"$T/folded/folded/GKER.folded"
	rm -rf "$T/folded"
}

report --by path --threshold 4 | part 'Call paths' >"$T/tree"
report --nvtx tree --by path --threshold 8 | part 'Call paths' >"$T/ranges"
report --metric GPUOP --by operator | part 'Operators of' >"$T/operators"
report --metric GPUOP --by torch-module --threshold 0 | part 'Modules of' >"$T/modules"
report | part 'Ranges of' >>"$T/ranges"
for name in tree ranges operators modules; do
	[ "${1:-}" != --accept ] || cp "$T/$name" "$golden/$name.txt"
	same "the $name as expected" "$T/$name" "$golden/$name.txt"
done
# as torch_steps.py printed them
for name in stem layers layers.0 layers.0.conv layers.0.norm layers.1 layers.1.conv \
	layers.1.norm head; do
	like "the module $name" "$(cat "$T/modules")" "  $name \\([A-Z][A-Za-z0-9]*\\)\$"
done
is "backward passes: the time of kernels below forward lines" "$(kernels backward)" 64.1
is "... and in the engine" "$(kernels 'autograd engine')" 0.0

done_testing
