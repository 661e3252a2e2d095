/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes measurements of ranks that use NCCL: gen_nccl_main DIRECTORY [NAME=NUMBER...], where the
 * names are those of struct gen_nccl in gen_nccl.h. */
#include "tests/gen/gen_nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool set(struct gen_nccl *p, const char *name, size_t n, uint32_t value)
{
	const struct {
		const char *name;
		uint32_t *number;
		bool *flag;
	} all[] = {{"n_ranks", &p->n_ranks, NULL},
		   {"n_steps", &p->n_steps, NULL},
		   {"late", &p->late, NULL},
		   {"n_groups", &p->n_groups, NULL},
		   {"n_samples", &p->n_samples, NULL},
		   {"in_one_process", NULL, &p->in_one_process},
		   {"other_order", NULL, &p->other_order},
		   {"none", NULL, &p->none}};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strlen(all[i].name) == n && strncmp(all[i].name, name, n) == 0) {
			if (all[i].number)
				*all[i].number = value;
			else
				*all[i].flag = value;
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct gen_nccl p = {.n_ranks = 2, .n_steps = 8};
	for (int i = 2; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		if (!value || !set(&p, argv[i], (size_t)(value - argv[i]),
				   (uint32_t)strtoul(value + 1, NULL, 10))) {
			fprintf(stderr, "gen_nccl_main: %s\n", argv[i]);
			return 2;
		}
	}
	if (argc < 2)
		return 2;
	gen_nccl_job(argv[1], &p);
	return 0;
}
