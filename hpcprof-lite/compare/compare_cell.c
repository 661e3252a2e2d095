/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a comparison as text; see compare_text.h. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_text.h"

#include "hpcprof-lite/sink/text/text_print.h"

#include <math.h>
#include <string.h>

enum { CELL = 32 };

const char *compare_change(char cell[CELL], enum model_unit unit, double value)
{
	char number[TEXT_CELL];
	text_value(number, unit, fabs(value));
	snprintf(cell, CELL, "%s%s", value > 0 ? "+" : value < 0 ? "-" : "", number);
	return cell;
}

const char *compare_factor(char cell[CELL], const struct compare_estimate *e)
{
	double factor = e->base != 0 ? e->new / e->base : 0;
	if (e->base == 0 || e->new == 0)
		return strcpy(cell, e->new != 0 ? "new" : e->base != 0 ? "gone" : "");
	snprintf(cell, CELL, factor < 9.9995 ? "%.3f" : factor < 9999.5 ? "%.0f" : "%.1e", factor);
	return cell;
}

const char *compare_share(char cell[CELL], double change, double whole)
{
	double percent = whole > 0 ? 100 * change / whole : 0;
	if (percent == 0)
		cell[0] = 0;
	else if (fabs(percent) < 0.05)
		strcpy(cell, "0.0%");
	else
		snprintf(cell, CELL, fabs(percent) < 9999.5 ? "%+.1f%%" : "%+.0e%%", percent);
	return cell;
}

enum model_unit compare_unit(const struct compare *c, uint32_t metric)
{
	return c->metrics.at[metric].unit;
}
