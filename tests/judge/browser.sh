# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For tests that open report.html. Source it after tests/lib.sh. $browser is a Python with Selenium,
# or empty where that, Chromium or its driver is missing (Debian: chromium, chromium-driver,
# python3-selenium).

browser=
for browser_python in "${PYTHON3:-python3}" /usr/bin/python3; do
	if have "${CHROMIUM:-/usr/bin/chromium}" && have "${CHROMEDRIVER:-/usr/bin/chromedriver}" &&
		"$browser_python" -c 'import selenium.webdriver' 2>/dev/null; then
		browser=$browser_python
		break
	fi
done

browse() { # COMMAND REPORT... see tests/judge/browse_report.py
	HOME=$T TMPDIR=$T timeout 300 "$browser" "$srcdir/tests/judge/browse_report.py" "$@" \
		2>"$T/err"
}
