/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what a thread did in each context, from the names on the call path and from waits. A call
 * into a run-time library sets the activity of everything below it, until the library calls back
 * code of the program. That is work again. Outside such calls, the wait itself sets the activity.
 * Test: tests/unit/prof/test_activity.c.
 */
#ifndef HPCPROF_ATTRIBUTE_ACTIVITY_H
#define HPCPROF_ATTRIBUTE_ACTIVITY_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/model/private.h"

/*
 * Sets the activity of all contexts of `m`, which has its modules, functions and contexts. False if
 * memory is short.
 */
bool activity_find(struct model *m);

/* In activity_time.c. */
extern const struct topic_ops topic_activity;

#endif
