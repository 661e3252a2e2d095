# SPDX-License-Identifier: BSD-3-Clause
#
# For by_name: sums of what hpcprof-lite --all prints, one a line, in a fixed order: how many
# records of each kind and contexts of each kind there are, the ledgers of the run, and of each
# metric the value of the root, the sums over contexts and threads, the samples, and the sum of the
# products of context and value, which says that values are where they were. Used by prof_text.sh,
# prof_gpu.sh and tests/cli/gpu/replay_golden.sh.

/^#/ { next }

{ records[$1]++ }

$1 == "metric" {
	name[get("id")] = get("name")
	n_metrics = get("id") + 1
}

$1 == "context" {
	contexts[get("kind") " " get("relation")]++
	up += (get("id") - get("parent")) * get("id")
}

$1 == "total" {
	m = get("metric")
	samples[m] += get("samples")
	point[m] += get("point")
	places[m] += get("context") * get("point")
	functions[m] += get("function")
	lexical[m] += get("lex_aware")
	execution[m] += get("execution")
	if (get("context") == 0)
		root[m] = get("execution")
}

$1 == "value" { of_threads[get("metric")] += get("point") }

$1 == "sample" {
	in_lines[get("metric")]++
	time += get("time_ns") % 1000000007
}

$1 == "gpu-op" { busy[get("kind")] += get("end_ns") - get("start_ns"); bytes += get("bytes") }

$1 == "thread" { all_close += get("closes") }

# ledgers of the run: without what depends on the place of the files
$1 ~ /^(gpu-)?(ledger|loss|end|paths|time|cpu|kind|graph-loss|sampling|yardstick|waits)$/ &&
		$2 == "all" {
	ledger[++n_ledger] = $0
}

$1 == "closes" || $1 == "gpu-closes" { ledger[++n_ledger] = $0 }

function sorted(table, what,   k, n, i, j, keys, t) {
	for (k in table)
		keys[++n] = k
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && keys[j - 1] > keys[j]; j--) {
			t = keys[j]; keys[j] = keys[j - 1]; keys[j - 1] = t
		}
	for (i = 1; i <= n; i++)
		printf "%s %s: %.0f\n", what, keys[i], table[keys[i]]
}

END {
	sorted(records, "records")
	sorted(contexts, "contexts")
	printf "contexts above each: %.0f\nthreads whose ledger closes: %d\n", up, all_close
	printf "times of samples: %.0f\nbytes of operations: %.0f\n", time, bytes
	sorted(busy, "ns of")
	for (i = 1; i <= n_ledger; i++)
		print ledger[i]
	for (m = 0; m < n_metrics; m++)
		if (m in root)
			printf "%s: root %.9g point %.9g threads %.9g function %.9g lex_aware " \
				"%.9g execution %.9g samples %d lines %d places %.9g\n", name[m],
				root[m], point[m], of_threads[m], functions[m], lexical[m],
				execution[m], samples[m], in_lines[m], places[m]
}
