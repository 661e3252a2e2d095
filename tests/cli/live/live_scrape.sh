#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What hpcprof-lite --live --prometheus-file writes reaches a Prometheus: node_exporter's textfile
# collector reads the file, Prometheus scrapes it, and a query finds the values of the file.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"
need promtool prometheus prometheus-node-exporter

mkdir "$T/textfiles" "$T/data"
port=$((20000 + $$ % 20000))
prometheus-node-exporter --collector.disable-defaults --collector.textfile \
	--collector.textfile.directory="$T/textfiles" --web.listen-address="127.0.0.1:$port" \
	>"$T/exporter.log" 2>&1 &
at_exit "kill $! 2>/dev/null"
cat >"$T/prometheus.yml" <<EOF
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: node
    static_configs: [{targets: ['127.0.0.1:$port']}]
EOF
prometheus --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/data" \
	--web.listen-address="127.0.0.1:$((port + 1))" >"$T/prometheus.log" 2>&1 &
at_exit "kill $! 2>/dev/null"

# query EXPRESSION: the value of the first series; nothing if there is none
query() {
	promtool query instant "http://127.0.0.1:$((port + 1))" "$1" 2>/dev/null |
		sed -n 's/.* => \([^ ]*\) @.*/\1/p' | head -n 1
}
finds() { [ -n "$(query "$1")" ]; }
is_one() { [ "$(query "$1")" = "$2" ]; }

start run 2 -e CPUTIME
look run --prometheus-file "$T/textfiles/run.prom"
ok "Prometheus has the CPU time" await "a sample" finds 'hpctoolkit_cpu_seconds_total'
ok "... and functions" await "a function" finds \
	'hpctoolkit_function_seconds_total{function="assemble_phase",measurement="run"}'
ok "rates can be computed" await "a rate" finds 'rate(hpctoolkit_cpu_seconds_total[15s]) > 0'
ok "node_exporter found no fault" is_one node_textfile_scrape_error 0
finish "$MEASURED"
wait $LOOKER
want=$(sed -n 's/^hpctoolkit_samples_total{.*} //p' "$T/textfiles/run.prom")
ok "the last value is that of the file" await "the last value" \
	is_one hpctoolkit_samples_total "$want"
ok "no process runs" await "the end" is_one hpctoolkit_processes_running 0

done_testing
