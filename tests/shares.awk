# SPDX-License-Identifier: BSD-3-Clause
#
# Reads the output of hpcprof-lite --to text --all and sums the samples and the values of the first
# metric, as lines of tab separated fields:
#
#	function NAME           exclusive samples, exclusive value, inclusive samples, inclusive value
#	line     FILE:LINE      the same; FILE without its folders
#	thread   NAME           samples delivered, value
#	all      ledger         samples delivered, samples in the tree, 1 when the ledger closes
#
# Inclusive sums are formed here, from the samples at each context, so that they check the tool's
# own. Used by tests/cli/e2e/shares.sh.

BEGIN {
	FS = OFS = "\t"
}

$1 == "file" {
	n = split(get("path"), part, "/")
	file[get("id")] = part[n]
}

$1 == "function" {
	name[get("id")] = get("name")
}

$1 == "context" {
	id = get("id")
	parent[id] = get("parent")
	kind = get("kind")
	if (kind == "function")
		key[id] = "function" OFS name[get("function")]
	else if (kind == "line")
		key[id] = "line" OFS file[get("file")] ":" get("line")
	exclusive_function[id] = kind == "line" || kind == "instruction" ||
		kind == "loop" ? "function" OFS name[get("function")] : ""
}

# total context metric profiles samples, then the sums: point function lex_aware execution
$1 == "total" && get("metric") == 0 && get("samples") > 0 {
	id = get("context")
	if (exclusive_function[id] != "")
		add_exclusive(exclusive_function[id], get("samples"), get("point"))
	if (key[id] ~ /^line/)
		add_exclusive(key[id], get("samples"), get("point"))
	round++
	for (up = id; up in parent; up = parent[up])
		if (key[up] != "" && seen[key[up]] != round) {
			seen[key[up]] = round
			inclusive_samples[key[up]] += get("samples")
			inclusive_value[key[up]] += get("point")
		}
}

$1 == "profile" {
	thread[get("id")] = get("name")
}

$1 == "value" && get("context") == 0 && get("metric") == 0 {
	thread_value[get("profile")] = get("execution")
}

$1 == "ledger" && get("of") == "profile" {
	thread_samples[get("id")] = get("delivered")
}

$1 == "ledger" && get("of") == "all" {
	delivered = get("delivered")
	in_tree = get("in_tree")
}

$1 == "closes" {
	closes = $2
}

function add_exclusive(which, samples, value) {
	exclusive_samples[which] += samples
	exclusive_value[which] += value
}

END {
	for (k in inclusive_samples)
		print k, exclusive_samples[k] + 0, exclusive_value[k] + 0, inclusive_samples[k], \
			inclusive_value[k]
	for (t in thread)
		print "thread", thread[t], thread_samples[t] + 0, thread_value[t] + 0
	print "all", "ledger", delivered + 0, in_tree + 0, closes + 0
}
