/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command-line options of the text sink. They set a struct sink_text_options. Test:
 * tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_OPTIONS_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_OPTIONS_H

#include "common/base/options.h"

extern const struct option_spec text_options[];

#endif
