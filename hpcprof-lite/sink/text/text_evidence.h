/* SPDX-License-Identifier: BSD-3-Clause */
/* Evidence and places below a row, as findings and advice have them. */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_EVIDENCE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_EVIDENCE_H

#include "hpcprof-lite/sink/text/text_style.h"

/* "82.0%", "1.20 s", "190 cycles", "2.0 TiB/s". Returns `cell`. */
enum { TEXT_FACT = 48 };
const char *text_fact(char cell[TEXT_FACT], enum model_unit unit, double value);
/* Words behind a label, in as many lines as they need. */
void text_labelled(const struct text_style *s, const char *label, const char *words);
/* "where  93.0%  FILE:92 in relax"; `is_first` has the label. */
void text_where(const struct model *m, uint32_t context, double share, bool is_first,
		const struct text_style *s);

#endif
