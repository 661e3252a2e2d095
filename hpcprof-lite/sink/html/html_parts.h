/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a section that workers make at the same time: one for each profile of the model. They go
 * into the section in their order. Test: tests/cli/prof/prof_scale.sh.
 */
#ifndef HPCPROF_LITE_SINK_HTML_HTML_PARTS_H
#define HPCPROF_LITE_SINK_HTML_HTML_PARTS_H

#include "hpcprof-lite/sink/html/html.h"

struct html_part {
	VEC(uint8_t);
	uint64_t n_items; /* for the two functions below */
	bool failed;      /* memory was short */
};

struct html_parts {
	void *arg;
	/* Makes the part of a profile, which is empty, in one of html.packer.n_workers threads. */
	void (*make)(void *arg, uint32_t profile, unsigned worker, struct html_part *p);
	/* Puts it into the open section. Called in the order of profiles, while no part is made. */
	void (*put)(void *arg, uint32_t profile, const struct html_part *p);
};

/* Makes and writes the parts of all profiles. Sets h->failed if memory is short. */
void html_parts_write(struct html *h, const struct html_parts *parts);
/* Adds a number, as html_put_number() does. */
void html_part_number(struct html_part *p, uint64_t n);
void html_part_bytes(struct html_part *p, const void *bytes, size_t n_bytes);

#endif
