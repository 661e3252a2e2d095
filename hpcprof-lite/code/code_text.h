/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the instructions of a function that a page carries, with their lines. Test: as code.h. */
#ifndef HPCPROF_LITE_CODE_CODE_TEXT_H
#define HPCPROF_LITE_CODE_CODE_TEXT_H

#include "hpcprof-lite/code/disassemble.h"

/*
 * Appends to c->instructions those of `text` that have samples or are near one, with at most
 * `most_bytes` of text, and addresses with samples that have no text. *used: bytes of text. False
 * if memory is short.
 */
bool code_text_put(const struct model *m, const struct code_hot *hot,
		   const struct disassembly *text, size_t most_bytes, struct code *c, size_t *used);

#endif
