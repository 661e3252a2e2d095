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
	n = split($3, part, "/")
	file[$2] = part[n]
}

$1 == "function" {
	name[$2] = $7
}

$1 == "context" {
	id = $2
	parent[id] = $3
	kind = $5
	if (kind == "function")
		key[id] = "function" OFS name[$8]
	else if (kind == "line")
		key[id] = "line" OFS file[$10] ":" $11
	exclusive_function[id] = kind == "line" || kind == "instruction" || kind == "loop" ? "function" OFS name[$8] : ""
}

# total context metric profiles samples, then the sums: point function lex_aware execution
$1 == "total" && $3 == 0 && $5 > 0 {
	id = $2
	if (exclusive_function[id] != "")
		add_exclusive(exclusive_function[id], $5, $6)
	if (key[id] ~ /^line/)
		add_exclusive(key[id], $5, $6)
	round++
	for (up = id; up in parent; up = parent[up])
		if (key[up] != "" && seen[key[up]] != round) {
			seen[key[up]] = round
			inclusive_samples[key[up]] += $5
			inclusive_value[key[up]] += $6
		}
}

$1 == "profile" {
	thread[$2] = $9
}

$1 == "value" && $3 == 0 && $4 == 0 {
	thread_value[$2] = $8
}

$1 == "ledger" && $2 == "profile" {
	thread_samples[$3] = $4
}

$1 == "ledger" && $2 == "all" {
	delivered = $4
	in_tree = $6
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
