/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a measurement file holds while its process writes to a file of its node instead, because the
 * measurement directory is on a file server: a text that names that file. Readers only; the store
 * writes it. doc/formats/measurement.md. Test: tests/cli/storage/storage_local.sh.
 */
#ifndef COMMON_FORMAT_LOCAL_DATA_H
#define COMMON_FORMAT_LOCAL_DATA_H

#include <stdbool.h>
#include <stddef.h>

#define LOCAL_DATA_HEAD "hpctoolkit-lite: this file is empty until the data are copied to it\n"
#define LOCAL_DATA_HOST "host "
#define LOCAL_DATA_FILE "file "
#define LOCAL_DATA_BYTES 4096u /* the text has at most so many */

struct local_data {
	char host[64];   /* as in the header of the measurement */
	char path[4096]; /* absolute, on that host */
};

/* Returns false if the bytes, the start of a file, are no such text. */
bool local_data_read(const void *bytes, size_t n_bytes, struct local_data *l);

/* Returns true if that file is on this node and can be read. Not signal-safe. */
bool local_data_is_here(const struct local_data *l);

/* Returns true if that file was on this node and no longer exists. Not signal-safe. */
bool local_data_is_gone(const struct local_data *l);

#endif
