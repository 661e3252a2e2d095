/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_side.h. Test: tests/cli/prof/prof_scale.sh. */
#include "hpcprof-lite/sink/html/html_side.h"

#include "common/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { OUT_BYTES = 256 << 10 };

struct html_side *html_side_write(const struct html *h, enum status (*write)(struct html *h))
{
	struct html_side *s = calloc(1, sizeof *s);
	if (!s) {
		log_error(h->o->directory, "out of memory");
		return NULL;
	}
	s->html.m = h->m;
	s->html.o = h->o;
	s->html.tree = h->tree;
	s->html.out = &s->out;
	s->file = (struct outfile){.fd = memfd_create("report.html", MFD_CLOEXEC),
				   .path = (char *)(uintptr_t)h->o->directory}; /* in messages */
	enum status status = STATUS_IO;
	if (s->file.fd < 0)
		log_error(h->o->directory, "report.html: %s", strerror(errno));
	else if ((status = outstream_open(&s->out, &s->file, 0, OUT_BYTES)) == STATUS_OK) {
		status = write(&s->html);
		enum status closed = outstream_close(&s->out);
		status = status == STATUS_OK ? closed : status;
	}
	if (status == STATUS_OK)
		return s;
	html_side_free(s);
	return NULL;
}

enum status html_side_append(struct html *h, struct html_side *s)
{
	char bytes[HTML_PLAIN_BYTES];
	enum status status = STATUS_OK;
	off_t at = 0;
	for (ssize_t n; status == STATUS_OK && at < (off_t)s->out.at; at += n) {
		n = pread(s->file.fd, bytes, sizeof bytes, at);
		if (n > 0) {
			html_write_plain(h->out, bytes, (size_t)n);
		} else {
			log_error(h->o->directory, "report.html: %s", strerror(n ? errno : EIO));
			status = STATUS_IO;
		}
	}
	h->failed |= s->html.failed;
	html_side_free(s);
	return status;
}

void html_side_free(struct html_side *s)
{
	if (s && s->file.fd >= 0)
		close(s->file.fd);
	free(s);
}
