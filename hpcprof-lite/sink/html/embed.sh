#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# embed.sh DIR SCRIPT...: prints C source with the page of DIR as two arrays of bytes: what stands
# before the data of a report, and the scripts behind it.
set -eu
dir=$1
shift

array() { # NAME, bytes on standard input
	echo "const char $1[] = {"
	od -An -v -td1 | sed -e 's/^ *//' -e 's/  */,/g' -e 's/$/,/'
	echo "0};"
	echo "const size_t $1_bytes = sizeof $1 - 1;"
}

echo '/* Made by embed.sh. */'
echo '#include "hpcprof-lite/sink/html/html.h"'
{
	cat "$dir/head.html"
	echo '<style>'
	cat "$dir/style.css"
	echo '</style>'
	cat "$dir/body.html"
} | array html_page_head
{
	echo '<script>'
	echo '"use strict";'
	for script; do cat "$dir/$script"; done
	echo '</script>'
	echo '</body>'
	echo '</html>'
} | array html_page_tail
