/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protobuf's wire format, and gzip around it. The profile has eight kinds of messages with integers
 * and strings only, so writing the wire format takes less code than the tables and structs that
 * protobuf-c would generate, and messages go out one by one. Encoding:
 * https://protobuf.dev/programming-guides/encoding. Test: tests/cli/sink/sink_pprof.sh.
 */
#ifndef HPCPROF_LITE_SINK_PPROF_PPROF_ENCODE_H
#define HPCPROF_LITE_SINK_PPROF_PPROF_ENCODE_H

#include "common/base/vec.h"
#include "hpcprof-lite/sink/outfile.h"

#include <zlib.h>

/* A message while it is encoded. Once memory was short, `failed` stays set until the end. */
struct pprof_message {
	VEC(uint8_t) bytes;
	bool failed;
};

void pprof_clear(struct pprof_message *m);
void pprof_free(struct pprof_message *m);
/* An integer field of any type but sint. */
void pprof_put(struct pprof_message *m, unsigned field, uint64_t value);
/* One value of a packed field, without its field number. */
void pprof_put_packed(struct pprof_message *m, uint64_t value);
/* A field with a length: a string, a message, or the values of a packed field. */
void pprof_put_bytes(struct pprof_message *m, unsigned field, const void *bytes, size_t n_bytes);
void pprof_put_message(struct pprof_message *m, unsigned field, const struct pprof_message *sub);

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
void pprof_write(struct pprof_file *f, const struct pprof_message *m);
/* Ends the file. Removes it if anything failed or `keep` is false. */
enum status pprof_close(struct pprof_file *f, bool keep);

#endif
