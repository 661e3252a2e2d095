/* SPDX-License-Identifier: BSD-3-Clause */
/* The topics of attribution, in the order in which each step calls them; NULL at the end. */
#ifndef HPCPROF_ATTRIBUTE_TOPICS_H
#define HPCPROF_ATTRIBUTE_TOPICS_H

#include "hpcprof-lite/attribute/topic/topic.h"

extern const struct topic_ops *const topics[];

#endif
