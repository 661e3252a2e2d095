/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts send each other records of one size, each record to one part. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_PARTS_SHARE_RECORDS_H
#define HPCPROF_PARTS_SHARE_RECORDS_H

#include "hpcprof-lite/parts/comm.h"

struct share_records {
	void *at; /* n of them, of `bytes` each; from malloc() */
	uint64_t n;
	size_t bytes;
	/* the part that gets the record */
	int (*part_of)(const void *arg, const void *record);
	const void *arg;
};

/*
 * Ends a step: `ok` says whether the part has its records. Then r->at has the records that this
 * part gets, in the order of the parts that had them, and the caller frees it. False: some part has
 * no memory, and there are no records.
 */
bool share_records(struct comm *c, bool ok, struct share_records *r);

#endif
