/* SPDX-License-Identifier: BSD-3-Clause */
/* The syntax of the filters' values. No function allocates. Test: tests/unit/prof/test_filter.c. */
#ifndef HPCPROF_FILTER_FILTER_TEXT_H
#define HPCPROF_FILTER_FILTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A range of numbers, as in "4-7"; a single number has first == last. */
struct filter_range {
	uint32_t first, last;
};

/*
 * Reads the next item of "0,4-7" and moves *at behind it and its comma. False at the end, or if
 * there is no range at *at, which then does not move.
 */
bool filter_next_range(const char **at, struct filter_range *out);
/* True if the whole text is a list of ranges with at least one item. */
bool filter_is_list(const char *text);
bool filter_list_has(const char *list, uint32_t number);

/*
 * Sets *name to the next item of a list, moves *at behind it and returns its length. 0 at the end.
 */
size_t filter_next_name(const char **at, const char **name);

/* One side of "FROM:TO". */
struct filter_moment {
	bool is_given, is_percent;
	double value; /* seconds or percent, not negative */
};
bool filter_read_time(const char *text, struct filter_moment *from, struct filter_moment *to);

/*
 * How much two names differ: the number of letters to change, or a smaller number if one contains
 * the other. Names longer than 200 bytes are cut.
 */
unsigned filter_distance(const char *a, const char *b);

#endif
