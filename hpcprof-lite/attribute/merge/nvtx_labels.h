/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Labels of NVTX ranges. Ids of names are valid in one process only, so ranges of several processes
 * are matched by their labels. Test: tests/cli/nvtx/nvtx_tree.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_NVTX_LABELS_H
#define HPCPROF_ATTRIBUTE_MERGE_NVTX_LABELS_H

#include "common/base/strtab.h"
#include "hpcprof-lite/load/job/load_job.h"

/*
 * The words of a name. "": the default domain, no category, no known source. They are borrowed from
 * the file; readable names of XLA are borrowed from `text`.
 */
struct nvtx_words {
	const char *name, *domain, *category, *source;
};
#define NVTX_WORDS_BYTES MSR_NVTX_TEXT_MOST
struct nvtx_words nvtx_words_of(const struct load_file *f, uint32_t id,
				char text[NVTX_WORDS_BYTES]);
/*
 * Returns `before`, "DOMAIN: NAME [CATEGORY] at FILE:LINE" and `after` as one string. FILE has no
 * directory. The caller frees it. NULL: memory is short.
 */
char *nvtx_label(const char *before, const struct nvtx_words *w, const char *after);

/* The contexts that ranges become in the tree: "<range LABEL>". Zero-initialise. */
struct nvtx_labels {
	struct nvtx_label_file *files; /* by file of the job; NULL: ranges are not in the tree */
	size_t n_files;
};
/* The strings of one file. */
struct nvtx_label_file {
	uint32_t *of_name; /* by id of the name; [0]: the name is not known */
	size_t n;
};
/* Adds the labels of all ranges to `strings`. False if memory is short. */
bool nvtx_labels_unify(struct nvtx_labels *l, const struct load_job *job, struct strtab *strings);
/* NULL: ranges are not in the tree. */
static inline const struct nvtx_label_file *nvtx_labels_of_file(const struct nvtx_labels *l,
								size_t file)
{
	return l->files ? &l->files[file] : NULL;
}
void nvtx_labels_free(struct nvtx_labels *l);

#endif
