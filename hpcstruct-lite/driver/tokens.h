/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens shared by processes and their threads, as make's job server has them: who works holds one, so that -j N bounds what runs whether it is many binaries or one
 * big one. Test: tests/cli/struct_jobs.sh.
 */
#ifndef HPCSTRUCT_LITE_DRIVER_TOKENS_H
#define HPCSTRUCT_LITE_DRIVER_TOKENS_H

#include <stdbool.h>

struct tokens {
	int read_fd, write_fd; /* a pipe with one byte for each free token */
};

/* Makes `n` free tokens. False, errno set, when the pipe cannot be had. */
bool tokens_make(struct tokens *t, unsigned n);
void tokens_destroy(struct tokens *t);
/* Waits for a token. False when `cancel_fd` (-1: none) became readable first. */
bool tokens_take(struct tokens *t, int cancel_fd);
/* Takes a token if one is free. */
bool tokens_try(struct tokens *t);
void tokens_give(struct tokens *t);

#endif
