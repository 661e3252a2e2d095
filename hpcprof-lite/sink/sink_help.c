/* SPDX-License-Identifier: BSD-3-Clause */
/* See sink_help.h. Test: tests/unit/sink/test_sink_html.c. */
#include "hpcprof-lite/sink/sink_help.h"

void sink_help_begin(struct sink_help *h, const struct comm *c)
{
	*h = (struct sink_help){.comm = c};
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
}

void sink_help_end(struct sink_help *h)
{
	pthread_cond_destroy(&h->changed);
	pthread_mutex_destroy(&h->lock);
}

void sink_help_decide(struct sink_help *h, bool is_there)
{
	pthread_mutex_lock(&h->lock);
	h->is_decided = true;
	h->is_there = is_there;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

bool sink_help_is_there(struct sink_help *h)
{
	pthread_mutex_lock(&h->lock);
	const bool is_there = h->is_there;
	pthread_mutex_unlock(&h->lock);
	return is_there;
}

bool sink_help_wait(struct sink_help *h)
{
	pthread_mutex_lock(&h->lock);
	while (!h->is_decided)
		pthread_cond_wait(&h->changed, &h->lock);
	const bool is_there = h->is_there;
	pthread_mutex_unlock(&h->lock);
	return is_there;
}
