/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether other processes help with a sink: a thread decides it, and another one asks or waits.
 * Only one sink may use it. Test: tests/unit/sink/test_sink_html.c.
 */
#ifndef HPCPROF_SINK_SINK_HELP_H
#define HPCPROF_SINK_SINK_HELP_H

#include <pthread.h>
#include <stdbool.h>

struct comm;

struct sink_help {
	const struct comm *comm; /* for the sink's thread, once help is there */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_decided, is_there;
};

void sink_help_begin(struct sink_help *h, const struct comm *c);
void sink_help_end(struct sink_help *h);
/* Help is there from now on until the sink returns; or it never comes. */
void sink_help_decide(struct sink_help *h, bool is_there);
/* True if help is there already. */
bool sink_help_is_there(struct sink_help *h);
/* Waits until it is decided. True: help is there. */
bool sink_help_wait(struct sink_help *h);

#endif
