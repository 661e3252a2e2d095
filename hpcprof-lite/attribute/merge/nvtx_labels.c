/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_labels.h. */
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"

#include "hpcprof-lite/attribute/known/known_xla.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct load_file *f, enum msr_nvtx_name_kind kind, uint32_t id)
{
	const struct load_nvtx_name *n = id < f->nvtx.names.n ? &f->nvtx.names.at[id] : NULL;
	return n && n->record && n->record->kind == (uint32_t)kind ? n->text : "";
}

static const char *category_of(const struct load_file *f, const struct msr_nvtx_name *of)
{
	for (size_t i = 0; of->category && i < f->nvtx.names.n; i++) {
		const struct msr_nvtx_name *n = f->nvtx.names.at[i].record;
		if (n && n->kind == MSR_NVTX_NAME_CATEGORY && n->category == of->category &&
		    n->domain == of->domain)
			return f->nvtx.names.at[i].text;
	}
	return "";
}

struct nvtx_words nvtx_words_of(const struct load_file *f, uint32_t id,
				char text[NVTX_WORDS_BYTES])
{
	const struct msr_nvtx_name *of =
		id < f->nvtx.names.n ? f->nvtx.names.at[id].record : NULL;
	if (!of)
		return (struct nvtx_words){"<other ranges>", "", "", ""};
	const char *name = text_of(f, MSR_NVTX_NAME_RANGE, id);
	return (struct nvtx_words){known_xla_name(name, text, NVTX_WORDS_BYTES) ? text : name,
				   text_of(f, MSR_NVTX_NAME_DOMAIN, of->domain),
				   category_of(f, of), f->nvtx.names.at[id].source};
}

char *nvtx_label(const char *before, const struct nvtx_words *w, const char *after)
{
	const char *slash = strrchr(w->source, '/'), *file = slash ? slash + 1 : w->source;
	char *label;
	if (asprintf(&label, "%s%s%s%s%s%s%s%s%s%s", before, w->domain, *w->domain ? ": " : "",
		     w->name, *w->category ? " [" : "", w->category, *w->category ? "]" : "",
		     *file ? " at " : "", file, after) < 0)
		return NULL;
	return label;
}

static bool label_file(struct nvtx_label_file *to, const struct load_file *f,
		       struct strtab *strings)
{
	to->n = f->nvtx.names.n ? f->nvtx.names.n : 1;
	to->of_name = calloc(to->n, sizeof *to->of_name);
	bool ok = to->of_name;
	for (size_t i = 0; ok && i < to->n; i++) {
		const struct msr_nvtx_name *r = i ? f->nvtx.names.at[i].record : NULL;
		if (i && (!r || r->kind != MSR_NVTX_NAME_RANGE))
			continue;
		char text[NVTX_WORDS_BYTES];
		const struct nvtx_words words = nvtx_words_of(f, (uint32_t)i, text);
		char *label = i ? nvtx_label("<range ", &words, ">") : nvtx_label("", &words, "");
		to->of_name[i] = label ? strtab_add_z(strings, label) : STRTAB_FAILED;
		ok = to->of_name[i] != STRTAB_FAILED;
		free(label);
	}
	return ok;
}

bool nvtx_labels_unify(struct nvtx_labels *l, const struct load_job *job, struct strtab *strings)
{
	l->files = calloc(job->files.n + 1, sizeof *l->files);
	l->n_files = job->files.n;
	bool ok = l->files;
	for (size_t i = 0; ok && i < job->files.n; i++)
		ok = label_file(&l->files[i], &job->files.at[i], strings);
	return ok;
}

void nvtx_labels_free(struct nvtx_labels *l)
{
	for (size_t i = 0; l->files && i < l->n_files; i++)
		free(l->files[i].of_name);
	free(l->files);
	*l = (struct nvtx_labels){0};
}
