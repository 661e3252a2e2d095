#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the golden cubins with nvcc 13.0 (V13.0.88; another version makes other code):
#
#	make-golden.sh DIRECTORY
#
# Sources are compiled in DIRECTORY/src, so that the line tables name files there. tests/cli/struct/struct_cubin.sh makes them again where that nvcc is installed, and compares. The
# expected texts beside the cubins (*.txt) are what hpcstruct-lite said when its lines and chains of inlined calls agreed with nvdisasm (*.nvdisasm, made by from-nvdisasm.py from
# `nvdisasm -gi -c`), libdw and CUPTI.
set -e
here=$(cd "$(dirname "$0")" && pwd)
: "${1:?usage: make-golden.sh DIRECTORY}" "${NVCC:=nvcc}"
mkdir -p "$1/src"
cp "$here"/src/* "$1/src/"
cd "$1"
cubin() { # SOURCE ARCHITECTURE KIND FLAGS...
	source=$1 arch=$2 kind=$3
	shift 3
	"$NVCC" -cubin -arch="sm_$arch" "$@" -o "$source.sm_$arch.$kind.cubin" "src/$source.cu"
}
for arch in 75 80 90 120; do
	cubin inline $arch lineinfo -O3 -lineinfo
done
cubin inline 90 G -G
cubin inline 90 plain -O3
cubin inline 90 O0 -lineinfo -Xptxas -O0
for arch in 75 90; do
	cubin calls $arch lineinfo -O3 -lineinfo
	cubin rdc_a $arch rdc -O3 -rdc=true -lineinfo
	cubin rdc_b $arch rdc -O3 -rdc=true -lineinfo
	"${NVLINK:-nvlink}" -arch=sm_$arch -o rdc_linked.sm_$arch.rdc.cubin rdc_a.sm_$arch.rdc.cubin rdc_b.sm_$arch.rdc.cubin
done
cubin loops 90 lineinfo -O3 -lineinfo
cubin loops 100 lineinfo -O3 -lineinfo
cubin mma 90 lineinfo -O3 -lineinfo
for arch in 75 90 120; do
	cubin depend $arch lineinfo -O3 -lineinfo
done
for arch in 75 80 90; do
	cubin operations $arch plain -O3
done
cubin shared 75 plain
cubin shared 90 plain
# of nvcc 12.4, for chips that CUDA 13 no longer knows: NVCC_12 names it
if [ -n "${NVCC_12:-}" ]; then
	(NVCC=$NVCC_12 && cubin loops 70 cuda12 -O3 -lineinfo &&
		cubin shared 61 cuda12 -O3 -lineinfo)
fi
# the same two cubins in fat binaries: as they are, and packed in both ways
for packing in none size speed; do
	"$NVCC" -fatbin -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code='[sm_90,compute_90]' -Xfatbin -compress-all -Xfatbin -compress-mode=$packing \
		-o shared.$packing.fatbin src/shared.cu
done
