/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of altered replays; see alter.h. */
#include "tests/replay/alter.h"

#include "common/base/options.h"
#include "hpcrun-lite/replay/player.h"
#include "hpcrun-lite/replay/replay.h"
#include "tests/replay/fault.h"
#include "tests/replay/shuffle.h"

#include <stdio.h>
#include <string.h>

/* Returns false if the option is ours and its value is wrong; *is_ours tells whether it is. */
static bool take(const char *option, const char *value, bool *is_ours)
{
	long long seed = 0;
	bool is_shuffle = !strcmp(option, "--shuffle-streams"),
	     is_fault = !strcmp(option, "--inject");
	*is_ours = is_shuffle || is_fault;
	if (is_shuffle && options_number(value ? value : "", 0, INT64_MAX, &seed)) {
		shuffle_seed((uint64_t)seed);
		replay_seam.plan = shuffle_plan;
		return true;
	}
	if (is_fault && value && fault_parse(value)) {
		replay_seam.library = fault_library;
		return true;
	}
	return !*is_ours;
}

int alter_main(int argc, char **argv)
{
	int n = 1;
	for (int i = 1; i < argc; i++) {
		bool is_ours;
		if (!take(argv[i], argv[i + 1], &is_ours)) {
			fprintf(stderr, "%s: the seed or the fault is wrong\n%s", argv[i],
				fault_help());
			return 2;
		}
		if (is_ours)
			i++;
		else
			argv[n++] = argv[i];
	}
	argv[n] = NULL;
	return replay_main(n, argv);
}
