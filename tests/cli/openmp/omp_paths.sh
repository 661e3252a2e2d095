#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Call paths in parallel regions: what workers do is below the region that forked them, at the path
# of the thread that did, and all threads of a team have the same path. Regions at several call
# sites, nested regions, teams of changing size, deep paths, regions of one thread.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

events="-e CPUTIME@f4000"

# chain N NAME: the name N times.
chain() {
	seq "$1" | sed "s/.*/$2/" | tr '\n' '|' | sed 's/|$//; s/|/ > /g'
}

for runtime in libgomp libomp; do
	if workload omp_paths $runtime "$events" sites 30; then
		all_in "the first region at both call sites" first_work \
			"main > main > do_sites > site_a > two_regions > OUTLINED > first_work" \
			"main > main > do_sites > site_b > two_regions > OUTLINED > first_work"
		all_in "the second region at both call sites" second_work \
			"main > main > do_sites > site_a > two_regions > OUTLINED > second_work" \
			"main > main > do_sites > site_b > two_regions > OUTLINED > second_work"
		share_is "share of the first call site" 'site_a;.*_work' '_work' 0.25
		share_is "share of the first region" 'first_work' '_work' \
			"$(echo "$(truth first_work 2) $(truth second_work 2)" |
				awk '{ print $1 / ($1 + $2) }')"
	fi
	if workload omp_paths $runtime "$events" nested 30; then
		all_in "outer regions" outer_work "main > main > do_nested > OUTLINED > outer_work"
		all_in "regions of workers and of the initial thread" inner_work \
			"main > main > do_nested > OUTLINED > inner_region > OUTLINED > inner_work"
		share_is "share of the inner region" inner_work _work \
			"$(echo "$(truth inner_work 2) $(truth outer_work 2)" |
				awk '{ print $1 / ($1 + $2) }')"
	fi
	if workload omp_paths $runtime "$events" teams 120; then
		all_in "the team of two" first_work "main > main > do_teams > OUTLINED > first_work"
		all_in "the team of four" second_work \
			"main > main > do_teams > OUTLINED > second_work"
		all_in "the team of one" third_work "main > main > do_teams > OUTLINED > third_work"
		share_is "share of the team of four" second_work _work \
			"$(echo "$(truth second_work 2) $(truth first_work 2)" \
				"$(truth third_work 2)" |
				awk '{ print $1 / ($1 + $2 + $3) }')"
	fi
	if workload omp_paths $runtime "$events" chain 50; then
		all_in "deep paths" inner_work \
			"main > main > do_chain > $(chain 31 outside) > OUTLINED > $(chain 21 inside) > inner_work"
	fi
	if workload omp_paths $runtime "$events" one 50; then
		all_in "a region that is none" first_work \
			"main > main > do_one > OUTLINED > first_work"
		all_in "a team of one" second_work "main > main > do_one > OUTLINED > second_work"
	fi
done
done_testing
