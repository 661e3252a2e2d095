/* SPDX-License-Identifier: BSD-3-Clause */
/* Evidence and places below a row, as findings and advice have them. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_EVIDENCE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_EVIDENCE_H

#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/view_evidence.h"

/* Words behind a label, in as many lines as they need. */
void text_labelled(const struct text_style *s, const char *label, const char *words);
/* "why    time at barriers: 82.0%; regions: 20"; nothing without facts. */
void text_why(const struct view_fact *facts, unsigned n, const struct text_style *s);
/* "where  93.0%  FILE:92 in relax", a line each. */
void text_where(const struct model *m, const struct view_place *places, unsigned n,
		const struct text_style *s);

#endif
