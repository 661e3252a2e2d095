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
	metric[get("id")] = get("id") == 0 ? "all" : get("event")
}

$1 == "module" {
	is_runtime[get("id")] = get("path") ~ /\/lib(gomp|omp|iomp5)[-.0-9]*so/
}

$1 == "function" {
	name[get("id")] = is_runtime[get("module")] ? "RUNTIME" : get("name")
	if (get("name") ~ /(_omp_fn\.|omp_outlined|omp_task_entry|_omp_cpyfn)/)
		name[get("id")] = "OUTLINED"
}

$1 == "context" {
	id = get("id")
	up = path[get("parent")]
	if (get("kind") == "entry") {
		path[id] = get("entry")
		last[id] = ""
	} else if (get("kind") == "function" &&
			!(name[get("function")] == last[get("parent")] &&
				last[get("parent")] ~ /^(RUNTIME|OUTLINED)$/)) {
		path[id] = up ";" name[get("function")]
		last[id] = name[get("function")]
	} else {
		path[id] = up
		last[id] = last[get("parent")]
	}
}

# total context metric profiles samples, then the sums: point function lex_aware execution
$1 == "total" && get("samples") > 0 {
	key = metric[get("metric")] OFS path[get("context")]
	samples[key] += get("samples")
	value[key] += get("point")
}

END {
	for (key in samples) {
		split(key, part, OFS)
		print part[1], samples[key], value[key], part[2]
	}
}
