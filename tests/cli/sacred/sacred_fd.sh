#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Descriptors: the program closes, overwrites and enumerates what it likes, sees what it would see
# without us, and is measured on.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for part in close overwrite ranges fork; do
	sacred "descriptors: $part" "$W/sacred_fd" "$part"
	sacred_sampled "descriptors: $part: the measurement goes on"
done

# shellcheck disable=SC2016 # for the inner shell
sacred "a shell that opens and closes descriptors" sh -c \
	'exec 3>/dev/null 4<&0 9>&3; echo x >&9; exec 3>&- 9>&-; (echo y >&9) 2>/dev/null || echo closed'

done_testing
