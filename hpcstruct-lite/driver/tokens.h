/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens that processes and their threads share, as in make's job server. Each worker holds one
 * token, so -j N limits the work of many binaries and of one big binary alike. Test:
 * tests/cli/struct/struct_jobs.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_TOKENS_H
#define HPCSTRUCT_LITE_DRIVER_TOKENS_H

#include <stdbool.h>

struct tokens {
	int read_fd, write_fd; /* a pipe that holds one byte for each free token */
};

/* Creates `n` free tokens. Returns false with errno if it cannot create the pipe. */
bool tokens_make(struct tokens *t, unsigned n);
void tokens_destroy(struct tokens *t);
/* Waits for a token. Returns false if `cancel_fd` becomes readable first. -1: no cancel_fd. */
bool tokens_take(struct tokens *t, int cancel_fd);
/* Takes a token if one is free, else returns false. */
bool tokens_try(struct tokens *t);
void tokens_give(struct tokens *t);

#endif
