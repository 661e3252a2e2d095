/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checkpoint writer thread and the packing of fields. See checkpoint.h.
 */
#include "checkpoint.h"

#include "memory.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

struct header {
	char magic[4];
	uint32_t version, step, crc;
	uint64_t n, n_packed;
};

struct checkpoint {
	const char *prefix;
	int rank;
	size_t n;
	double *copy;           /* owned by the writer while busy */
	unsigned char *packed;
	unsigned step;
	int busy, ending, failed;
	pthread_mutex_t lock;   /* of busy, ending, failed */
	pthread_cond_t changed;
	pthread_t thread;
};

static uint32_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void crc_fill_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		crc_table[i] = c;
	}
}

static uint32_t crc32_of(const unsigned char *p, size_t n)
{
	uint32_t c = 0xFFFFFFFFu;

	pthread_once(&crc_once, crc_fill_table);
	for (size_t i = 0; i < n; i++)
		c = c >> 8 ^ crc_table[(c ^ p[i]) & 0xFF];
	return ~c;
}

static inline uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline int significant_bytes(uint64_t bits)
{
	return bits ? 8 - __builtin_clzll(bits) / 8 : 0;
}

/* At most 9 bytes an element. */
static size_t pack(const double *field, size_t n, unsigned char *out)
{
	unsigned char *p = out;
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t difference = bits_of(field[i]) ^ before;
		const int bytes = significant_bytes(difference);

		before ^= difference;
		*p++ = (unsigned char)bytes;
		for (int b = 0; b < bytes; b++, difference >>= 8)
			*p++ = (unsigned char)difference;
	}
	return (size_t)(p - out);
}

static int unpack(const unsigned char *p, size_t n_packed, double *field, size_t n)
{
	const unsigned char *end = p + n_packed;
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t difference = 0;
		int bytes;

		if (p == end || *p > 8 || end - p <= *p)
			return -1;
		bytes = *p++;
		for (int b = 0; b < bytes; b++)
			difference |= (uint64_t)*p++ << 8 * b;
		before ^= difference;
		memcpy(&field[i], &before, sizeof before);
	}
	return p == end ? 0 : -1;
}

static int write_file(const struct checkpoint *c, size_t n_packed)
{
	struct header header = {
		.magic = "MELT", .version = 1, .step = c->step, .n = c->n, .n_packed = n_packed};
	char path[4096];
	FILE *file;
	int ok;

	header.crc = crc32_of(c->packed, n_packed);
	if (snprintf(path, sizeof path, "%s.%u.%d", c->prefix, c->step, c->rank) >=
	    (int)sizeof path)
		return -1;
	file = fopen(path, "wb");
	if (!file) {
		perror(path);
		return -1;
	}
	ok = fwrite(&header, sizeof header, 1, file) == 1 &&
	     fwrite(c->packed, 1, n_packed, file) == n_packed;
	if (fclose(file) != 0 || !ok) {
		perror(path);
		return -1;
	}
	return 0;
}

static void *writer(void *arg)
{
	struct checkpoint *c = arg;

	pthread_setname_np(pthread_self(), "checkpoint");
	pthread_mutex_lock(&c->lock);
	for (;;) {
		int failed;

		while (!c->busy && !c->ending)
			pthread_cond_wait(&c->changed, &c->lock);
		if (!c->busy)
			break;
		pthread_mutex_unlock(&c->lock);
		failed = write_file(c, pack(c->copy, c->n, c->packed)) != 0;
		pthread_mutex_lock(&c->lock);
		c->failed |= failed;
		c->busy = 0;
		pthread_cond_broadcast(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

struct checkpoint *checkpoint_start(const char *prefix, int rank, size_t n)
{
	struct checkpoint *c = memory_get(1, sizeof *c);

	c->prefix = prefix;
	c->rank = rank;
	c->n = n;
	c->copy = memory_get(n, sizeof *c->copy);
	c->packed = memory_get(n, 9);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	if (pthread_create(&c->thread, NULL, writer, c) == 0)
		return c;
	free(c->copy);
	free(c->packed);
	free(c);
	return NULL;
}

void checkpoint_submit(struct checkpoint *c, unsigned step, const double *field)
{
	pthread_mutex_lock(&c->lock);
	while (c->busy)
		pthread_cond_wait(&c->changed, &c->lock);
	memcpy(c->copy, field, c->n * sizeof *field);
	c->step = step;
	c->busy = 1;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

int checkpoint_stop(struct checkpoint *c)
{
	int failed;

	pthread_mutex_lock(&c->lock);
	c->ending = 1;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	failed = c->failed;
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c->copy);
	free(c->packed);
	free(c);
	return failed ? -1 : 0;
}

static int read_packed(FILE *file, const char *path, size_t n, double *field, unsigned *step)
{
	struct header header;
	unsigned char *packed;
	int status = -1;

	if (fread(&header, sizeof header, 1, file) != 1 || memcmp(header.magic, "MELT", 4) != 0 ||
	    header.version != 1 || header.n != n || header.n_packed > 9 * (uint64_t)n) {
		fprintf(stderr, "melt: %s: not a checkpoint of %zu cells\n", path, n);
		return -1;
	}
	packed = memory_get(header.n_packed, 1);
	if (fread(packed, 1, header.n_packed, file) != header.n_packed)
		fprintf(stderr, "melt: %s: shorter than it says\n", path);
	else if (crc32_of(packed, header.n_packed) != header.crc ||
		 unpack(packed, header.n_packed, field, n) != 0)
		fprintf(stderr, "melt: %s: damaged\n", path);
	else
		status = 0;
	free(packed);
	*step = header.step;
	return status;
}

int checkpoint_read(const char *path, size_t n, double *field, unsigned *step)
{
	FILE *file = fopen(path, "rb");
	int status;

	if (!file) {
		perror(path);
		return -1;
	}
	status = read_packed(file, path, n, field, step);
	fclose(file);
	return status;
}
