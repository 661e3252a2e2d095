#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Prints what nvdisasm (of CUDA 12.4; it knows sm_70 to sm_90) says of a cubin, as
# tests/struct/judge_sass.c reads it: make-sass.sh CUBIN
"${NVDISASM:-nvdisasm}" -c "$1" | sed -n \
	-e 's/^[[:space:]]*\.section[[:space:]]*\(\.text\.[^,]*\),.*/\1/p' \
	-e 's:^[[:space:]]*/\*\([0-9a-f]*\)\*/[[:space:]]*{*[[:space:]]*\(.*[^ ]\)[[:space:]]*;.*:\1 \2:p'
