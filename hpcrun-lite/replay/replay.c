/* SPDX-License-Identifier: BSD-3-Clause */
/* The command; see replay.h. Test: tests/cli/gpu/replay.sh. */
#include "hpcrun-lite/replay/replay.h"

#include "common/base/log.h"
#include "common/base/options.h"
#include "hpcrun-lite/replay/output.h"
#include "hpcrun-lite/replay/player.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SPEED 1e9

struct request {
	const char *recording, *output;
	double speed;
};

/* ---- options ---- */

static enum status set_speed(void *arg, const char *value)
{
	char *end;
	double speed = strtod(value, &end);
	if (!*value || *end || !(speed > 0) || speed > MAX_SPEED)
		return options_refuse("'%s' is no speed: 1 is as it was, 10 ten times faster",
				      value);
	((struct request *)arg)->speed = speed;
	return STATUS_OK;
}

static const struct option_spec specs[] = {
	{'o', "output", "DIR", "where to write the measurement; must not exist",
	 OPTION_FILE(struct request, output)},
	{0, "speed", "X", "X times as fast as it was recorded; default: without pauses",
	 OPTION_CALL(set_speed)},
	{'q', "quiet", NULL, "errors and warnings only", OPTION_CALL(options_set_quiet)},
	{'v', "verbose", NULL, "say more", OPTION_CALL(options_set_verbose)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};

static const struct option_table table = {
	.program = "hpcrun-lite replay",
	.synopsis = "hpcrun-lite replay [options] RECORDING -o DIR",
	.about = "Plays a measurement that was made with --record-gpu to the GPU back end again, "
		 "without a GPU, and writes the measurement that comes of it.",
	.specs = specs,
	.footer = "Exit status: 0; 1 when it cannot be played, 2 for wrong usage.",
};

/* ---- one recording ---- */

static enum status prepare(struct player *p, const struct request *r)
{
	size_t n = (size_t)p->tape.n_events + 1;
	p->directory = r->recording;
	p->speed = r->speed;
	p->data = calloc(n, sizeof *p->data);
	p->is_played = calloc(n, sizeof *p->is_played);
	p->threads = calloc((size_t)p->tape.n_streams + 1, sizeof *p->threads);
	for (uint32_t i = 0; i < p->tape.n_events; i++)
		p->max_given += tape_is_enter(&p->tape.event[i], RECORDING_REQUEST);
	p->given = calloc((size_t)p->max_given + 1, sizeof *p->given);
	if (!p->data || !p->is_played || !p->threads || !p->given) {
		log_error(NULL, "there is not enough memory to play the recording");
		return STATUS_NO_MEMORY;
	}
	for (uint32_t i = 0; i < p->tape.n_streams; i++)
		p->threads[i].stream = i;
	nv_map_init(&p->buffers, n);
	nv_map_init(&p->hashes, n);
	return plan_make(p, replay_seam.plan);
}

static bool is_partial(const struct tape *t)
{
	return t->n_damaged || atomic_load_explicit(&t->header->n_lost, memory_order_relaxed);
}

static void say_what_is_missing(const char *path, const struct tape *t)
{
	uint64_t n_lost = atomic_load_explicit(&t->header->n_lost, memory_order_relaxed);
	if (t->n_damaged)
		log_warn(path, "%llu bytes are damaged and are not played",
			 (unsigned long long)t->n_damaged);
	if (n_lost)
		log_warn(path,
			 "the recording ended %.3f s after its start, before the process did: only "
			 "what came until then is played",
			 (double)(atomic_load_explicit(&t->header->lost_ns, memory_order_relaxed) -
				  t->header->start_mono_ns) /
				 1e9);
}

/* The options of the back end, without those of the recorder. */
static char *options_without_record(const char *options)
{
	char *to = calloc(1, strlen(options) + 1);
	for (const char *at = options; to && *at;) {
		size_t n = strcspn(at, ",");
		bool is_record = (n == 6 && !strncmp(at, "record", 6)) ||
				 (n > 7 && !strncmp(at, "record=", 7));
		if (!is_record) {
			if (*to)
				strcat(to, ",");
			strncat(to, at, n);
		}
		at += n + (at[n] == ',');
	}
	return to;
}

/* The name of the measurement beside a recording. */
static void name_measurement(char *to, size_t n_bytes, const char *recording)
{
	const char *name = strrchr(recording, '/') + 1;
	snprintf(to, n_bytes, "%.*s" MSR_SUFFIX, (int)(strlen(name) - strlen(RECORDING_SUFFIX)),
		 name);
}

static enum status play(struct player *p, const char *path, const struct request *r)
{
	static struct nv_library library;
	char original[PATH_MAX], name[NAME_MAX + 1];
	struct output_facts facts;
	unsigned number = p->tape.header->backend_number;
	char *options = options_without_record(p->tape.header->options);
	if (number >= GPU_MAX_BACKENDS || strcmp(p->tape.header->backend, "nvidia") != 0 ||
	    !options) {
		log_error(path, "it is of another back end than nvidia");
		return STATUS_UNSUPPORTED;
	}
	snprintf(original, sizeof original, "%s/%s", r->recording, p->tape.header->measurement);
	name_measurement(name, sizeof name, path);
	enum status status = output_open(original, r->output, name, number, &facts);
	if (status != STATUS_OK)
		return status;
	if (facts.has_others)
		log_warn(path, "operations of other GPU back ends of the process are left out: "
			       "they were not recorded");
	gpu_start(place_runtime(r->output, facts.handler_ns));
	p->host = gpu_open(number, "nvidia", options);
	stand_in_library(&library);
	stand_in_pc(&library);
	if (replay_seam.library)
		replay_seam.library(&library);
	nv_library_stand_in = &library;
	status = player_run();
	/*
	 * Operations after the end of the recording never complete. The back end counts them at the
	 * end of the process.
	 */
	if (is_partial(&p->tape))
		player_end();
	place_end();
	gpu_finish();
	output_close();
	return status;
}

/* Runs in a separate process, because a process can have only one back end, core and store. */
static enum status replay_one(const char *path, const struct request *r)
{
	enum status status = tape_load(path, &player.tape);
	if (status == STATUS_OK)
		say_what_is_missing(path, &player.tape);
	if (status == STATUS_OK)
		status = prepare(&player, r);
	if (status == STATUS_OK)
		status = play(&player, path, r);
	return status;
}

static enum status replay_in_child(const char *path, const struct request *r)
{
	int how = 0;
	fflush(NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(status_exit_code(replay_one(path, r)));
	while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR)
		;
	if (child < 0)
		log_error(path, "no process could be started to play it: %s", strerror(errno));
	else if (WIFSIGNALED(how))
		log_error(path, "the back end crashed while it was played: %s",
			  strsignal(WTERMSIG(how)));
	return child > 0 && WIFEXITED(how) && WEXITSTATUS(how) == 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

/* ---- the directory ---- */

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n > m && !strcmp(name + n - m, end);
}

/*
 * Lists a directory by name; the caller frees the entries. Returns -1 and logs why it cannot be
 * read.
 */
static int list(const char *path, struct dirent ***entries)
{
	int n = scandir(path, entries, NULL, alphasort);
	if (n < 0)
		log_error(path, "%s", strerror(errno));
	return n;
}

static enum status copy_directory(const char *from_root, const char *to_root, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX], in[2 * PATH_MAX], out[2 * PATH_MAX];
	struct dirent **entries;
	struct stat st;
	enum status status = STATUS_OK;
	snprintf(from, sizeof from, "%s/%s", from_root, name);
	snprintf(to, sizeof to, "%s/%s", to_root, name);
	if (stat(from, &st) != 0 || !S_ISDIR(st.st_mode))
		return STATUS_OK;
	int n = list(from, &entries);
	if (n < 0 || (mkdir(to, 0777) != 0 && errno != EEXIST))
		return STATUS_IO;
	for (int i = 0; i < n; i++) {
		snprintf(in, sizeof in, "%s/%s", from, entries[i]->d_name);
		snprintf(out, sizeof out, "%s/%s", to, entries[i]->d_name);
		if (status == STATUS_OK && stat(in, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(out, F_OK) != 0)
			status = output_copy_file(in, out);
		free(entries[i]);
	}
	free(entries);
	return status;
}

/* Returns true if the measurement has a recording, which is played instead of copying the file. */
static bool is_recorded(const char *directory, const char *name)
{
	char path[2 * PATH_MAX];
	snprintf(path, sizeof path, "%s/%.*s" RECORDING_SUFFIX, directory,
		 (int)(strlen(name) - strlen(MSR_SUFFIX)), name);
	return access(path, F_OK) == 0;
}

struct counts {
	unsigned n_played, n_copied;
};

static enum status do_entry(const struct request *r, const char *name, struct counts *c)
{
	char from[2 * PATH_MAX], to[2 * PATH_MAX];
	snprintf(from, sizeof from, "%s/%s", r->recording, name);
	snprintf(to, sizeof to, "%s/%s", r->output, name);
	if (ends_in(name, RECORDING_SUFFIX)) {
		c->n_played++;
		return replay_in_child(from, r);
	}
	if (ends_in(name, MSR_SUFFIX) && !is_recorded(r->recording, name)) {
		c->n_copied++;
		return output_copy_file(from, to);
	}
	return !strcmp(name, "job") ? output_copy_file(from, to) : STATUS_OK;
}

/* Continues with the other recordings if one fails. */
static enum status do_all(const struct request *r)
{
	struct dirent **entries;
	struct counts c = {0, 0};
	enum status status = copy_directory(r->recording, r->output, "vdso");
	/* the structures of the binaries, which may be missing on this machine */
	if (status == STATUS_OK)
		status = copy_directory(r->recording, r->output, "structs");
	int n = status == STATUS_OK ? list(r->recording, &entries) : -1;
	for (int i = 0; i < n; i++) {
		enum status s = do_entry(r, entries[i]->d_name, &c);
		status = status == STATUS_OK ? s : status;
		free(entries[i]);
	}
	if (n < 0)
		return STATUS_IO;
	free(entries);
	/* processes that were not recorded may need any of the code objects */
	if (c.n_copied && status == STATUS_OK)
		status = copy_directory(r->recording, r->output, MSR_GPU_CODE_DIRECTORY);
	log_note(NULL, "%s: %u recording%s played", r->output, c.n_played,
		 c.n_played == 1 ? "" : "s");
	return status;
}

/* Returns true if the directory has a recording. Called before anything is written. */
static bool has_recordings(const char *directory)
{
	struct dirent **entries;
	bool found = false;
	int n = list(directory, &entries);
	for (int i = 0; i < n; i++) {
		found = found || ends_in(entries[i]->d_name, RECORDING_SUFFIX);
		free(entries[i]);
	}
	if (n < 0)
		return false;
	free(entries);
	if (!found)
		log_error(directory,
			  "there is no recording in it: measure with --record-gpu -e gpu=nvidia");
	return found;
}

static bool holds_measurement(const char *directory)
{
	struct dirent **entries;
	bool found = false;
	int n = list(directory, &entries);
	for (int i = 0; i < n; i++) {
		found = found || ends_in(entries[i]->d_name, MSR_SUFFIX);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return found;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

int replay_main(int argc, char **argv)
{
	static struct request r;
	char absolute[PATH_MAX];
	int first, done;
	enum status status = options_parse(&table, argc, argv, 0, &r, &first, &done);
	if (status != STATUS_OK || done)
		return status_exit_code(status);
	if (argc - first != 1)
		return status_exit_code(
			options_refuse("one recording is played: a measurement directory"));
	if (!r.output)
		return status_exit_code(options_refuse("where to write is not said (-o DIR)"));
	r.recording = argv[first];
	if (!has_recordings(r.recording))
		return 1;
	if (mkdir(r.output, 0777) != 0) {
		log_error(r.output, "%s", strerror(errno));
		return 1;
	}
	r.output = realpath(r.output, absolute);
	if (!r.output)
		return 1;
	status = do_all(&r);
	/* Remove a directory without a measurement, or the next attempt would find it. */
	if (status != STATUS_OK && !holds_measurement(r.output))
		nftw(r.output, remove_entry, 8,
		     FTW_DEPTH | FTW_PHYS);
	return status_exit_code(status);
}
