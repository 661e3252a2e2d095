/* SPDX-License-Identifier: BSD-3-Clause */
/* The gzip file around the messages of a profile. Test: tests/cli/sink/sink_pprof.sh. */
#ifndef HPCPROF_LITE_SINK_PPROF_PPROF_FILE_H
#define HPCPROF_LITE_SINK_PPROF_PPROF_FILE_H

#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/protobuf.h"

#include <zlib.h>

/* A gzip file. The first failure is logged and returned by pprof_close(). */
struct pprof_file {
	struct outfile file;
	z_stream zip;
	uint64_t offset; /* of the compressed bytes written */
	enum status status;
	uint8_t buffer[64 << 10];
};

/* On success the caller calls pprof_close(). */
enum status pprof_open(struct pprof_file *f, const char *directory, const char *name);
/* Writes the fields of `m`. A message that failed makes the file fail. */
void pprof_write(struct pprof_file *f, const struct protobuf_message *m);
/* Ends the file. Removes it if anything failed or `keep` is false. */
enum status pprof_close(struct pprof_file *f, bool keep);

#endif
