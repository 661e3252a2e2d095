# SPDX-License-Identifier: BSD-3-Clause
#
# Reads the output of hpcprof-lite --to text --all and prints a line for each call path and metric:
# metric, samples, value, path; samples and values of the path alone, without what it calls. The
# first metric is also called "all". A path has the names of functions, outermost
# first, with ';' between them; it begins with its entry, such as "main" or "omp-idle". A function
# that a compiler made for a region or task is OUTLINED, one of the run-time libraries of OpenMP is
# RUNTIME, both once in a row. Used by
# tests/cli/openmp/openmp.sh.

BEGIN {
	FS = OFS = "\t"
}

# metric id unit period source event name
$1 == "metric" {
	metric[$2] = $2 == 0 ? "all" : $6
}

$1 == "module" {
	is_runtime[$2] = $5 ~ /\/lib(gomp|omp|iomp5)[-.0-9]*so/
}

$1 == "function" {
	name[$2] = is_runtime[$3] ? "RUNTIME" : $7
	if ($7 ~ /(_omp_fn\.|omp_outlined|omp_task_entry|_omp_cpyfn)/)
		name[$2] = "OUTLINED"
}

$1 == "context" {
	id = $2
	up = path[$3]
	if ($5 == "entry") {
		path[id] = $13
		last[id] = ""
	} else if ($5 == "function" &&
			!(name[$8] == last[$3] && last[$3] ~ /^(RUNTIME|OUTLINED)$/)) {
		path[id] = up ";" name[$8]
		last[id] = name[$8]
	} else {
		path[id] = up
		last[id] = last[$3]
	}
}

# total context metric profiles samples, then the sums: point function lex_aware execution
$1 == "total" && $5 > 0 {
	key = metric[$3] OFS path[$2]
	samples[key] += $5
	value[key] += $6
}

END {
	for (key in samples) {
		split(key, part, OFS)
		print part[1], samples[key], value[key], part[2]
	}
}
