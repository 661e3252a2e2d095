# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# For tests of Python frames; sourced after lib.sh. Sets PY, the interpreter itself (not a script
# that starts it), or skips all. By hand another one: PYTHON3=/path/to/python3 sh tests/cli/...

[ -n "${PYTHON3:-}" ] && "$PYTHON3" -c '' 2>/dev/null || skip_all "no python3"
PY=$("$PYTHON3" -c 'import os, sys; print(os.path.realpath(sys.executable))')
"$PY" -c '
import sys, sysconfig
good = sys.implementation.name == "cpython" and (3, 10) <= sys.version_info[:2] <= (3, 15) and not sysconfig.get_config_var("Py_GIL_DISABLED")
sys.exit(not good)' || skip_all "$PY is no CPython 3.10 to 3.15"
