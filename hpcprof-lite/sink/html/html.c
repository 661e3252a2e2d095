/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink html: report.html, the page of page/ with the profile in it. The page computes what it
 * shows, because it follows the user's selection. Tests: tests/cli/sink/sink_html.sh,
 * tests/unit/sink/test_sink_html.c.
 */
#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_sink.h"

#include "common/base/log.h"
#include "common/base/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OUT_BYTES = 256 << 10 };

static enum status write_sections(struct html *h)
{
	enum status (*const writers[])(struct html *) = {
		html_write_contexts, html_write_totals, html_write_values, html_write_runs,
		html_write_times,    html_write_nvtx,   html_write_power,  html_write_memory,
		html_write_sources,  html_write_code,   html_write_meta};
	enum status status = STATUS_OK;
	for (size_t i = 0; i < sizeof writers / sizeof *writers && status == STATUS_OK; i++) {
		status = writers[i](h);
		if (status == STATUS_OK && h->failed) {
			log_error(h->o->directory, "out of memory");
			status = STATUS_NO_MEMORY;
		}
	}
	enum status packed = html_pack_end(&h->packer);
	return status == STATUS_OK ? packed : status;
}

static enum status write_page(struct html *h, struct outstream *out)
{
	h->packer = (struct html_packer){
		.out = out,
		.n_workers = h->o->n_workers ? h->o->n_workers : pool_n_cpus()};
	outstream_put(out, html_page_head, html_page_head_bytes);
	enum status status = write_sections(h);
	outstream_put(out, html_page_tail, html_page_tail_bytes);
	return status;
}

/* Makes the file readable only for its owner if it has source lines that not everyone may read. */
static void keep_private(const struct html *h, const struct outfile *f)
{
	struct stat st;
	if (!h->is_private)
		return;
	if (h->o->is_private)
		*h->o->is_private = true;
	if (fstat(f->fd, &st) == 0 && fchmod(f->fd, st.st_mode & 0700) != 0)
		log_warn(f->path, "stays readable for others: %s", strerror(errno));
}

static enum status write_report(const struct model *m, const struct sink_options *o)
{
	struct outfile file;
	struct outstream out;
	struct html *h = calloc(1, sizeof *h);
	const struct sink_html_settings *settings = o->settings;
	enum status status = STATUS_NO_MEMORY;
	if (!h || !html_tree_make(m, HTML_MAX_CONTEXTS, HTML_MAX_VALUES, &h->tree) ||
	    strtab_add_z(&h->strings, "") == STRTAB_FAILED)
		log_error(o->directory, "out of memory");
	else if ((status = outfile_create(&file, o->directory,
					 settings && settings->name ? settings->name
								    : "report.html")) ==
		 STATUS_OK) {
		h->m = m;
		h->o = o;
		html_find_strides(h);
		status = outstream_open(&out, &file, 0, OUT_BYTES);
		if (status == STATUS_OK) {
			log_progress("report.html", 0, 0);
			status = write_page(h, &out);
			keep_private(h, &file);
			log_progress(NULL, 0, 0);
			enum status closed = outstream_close(&out);
			status = status == STATUS_OK ? closed : status;
		}
		if (status == STATUS_OK)
			status = outfile_close(&file);
		else
			outfile_abandon(&file);
	}
	if (h) {
		html_tree_free(&h->tree);
		strtab_free(&h->strings);
	}
	free(h);
	return status;
}

const struct sink_ops sink_html = {
	.name = "html",
	.what = "a page: flame graphs, time lines, source",
	.makes_files = true,
	.opens = "report.html",
	.write = write_report,
};
