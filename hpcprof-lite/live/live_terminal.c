/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_terminal.h. */
#include "hpcprof-lite/live/live_terminal.h"

#include "common/base/log.h"
#include "common/base/now.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct {
	bool is_screen, has_keys;
	struct termios before; /* has_keys */
} terminal;

static volatile sig_atomic_t asked_to_end, asked_to_stop, has_changed;

static void on_signal(int number)
{
	if (number == SIGWINCH || number == SIGCONT)
		has_changed = 1;
	else if (number == SIGTSTP)
		asked_to_stop = 1;
	else
		asked_to_end = number;
}

/* A signal that the shell lets us ignore stays ignored. */
static void catch_signal(int number)
{
	struct sigaction old, new = {.sa_handler = on_signal};
	if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(number, &new, NULL);
}

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

/* The alternate screen, without a cursor; keys come at once and are not shown. */
static void take(void)
{
	struct termios t;
	terminal.has_keys = isatty(STDIN_FILENO) && getpgrp() == tcgetpgrp(STDIN_FILENO) &&
			    tcgetattr(STDIN_FILENO, &terminal.before) == 0;
	if (terminal.has_keys) {
		t = terminal.before;
		t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &t);
	}
	put("\033[?1049h\033[?25l\033[2J");
}

static void give(void)
{
	put("\033[?25h\033[?1049l");
	if (terminal.has_keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal.before);
}

bool live_terminal_begin(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		catch_signal(numbers[i]);
	terminal.is_screen = log_takes_escapes(STDOUT_FILENO);
	if (terminal.is_screen) {
		catch_signal(SIGWINCH);
		catch_signal(SIGTSTP);
		catch_signal(SIGCONT);
		take();
	}
	return terminal.is_screen;
}

void live_terminal_end(void)
{
	if (terminal.is_screen)
		give();
	terminal.is_screen = false;
}

void live_terminal_obey(void)
{
	if (!asked_to_end)
		return;
	signal(asked_to_end, SIG_DFL);
	raise(asked_to_end);
}

void live_terminal_size(size_t *width, size_t *n_rows)
{
	struct winsize size;
	*width = 80;
	*n_rows = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
		*width = size.ws_col;
		*n_rows = size.ws_row;
	}
}

void live_terminal_show(const char *text, size_t n_bytes)
{
	fputs("\033[H", stdout);
	for (const char *at = text, *end; (end = memchr(at, '\n', n_bytes - (size_t)(at - text)));
	     at = end + 1) { /* the last row has no line break: it would scroll */
		fprintf(stdout, "%s%.*s\033[K", at > text ? "\n" : "", (int)(end - at), at);
	}
	put("\033[J");
}

/* As the terminal would have done, but with the terminal as it was. */
static void stop(void)
{
	asked_to_stop = 0;
	if (terminal.is_screen)
		give();
	raise(SIGSTOP);
	if (terminal.is_screen)
		take();
	has_changed = 1;
}

static bool has_key_q(void)
{
	char key;
	return read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q');
}

bool live_terminal_wait(uint64_t until_ns)
{
	bool quits = false;
	has_changed = 0;
	for (uint64_t now;
	     !quits && !asked_to_end && !has_changed && (now = now_mono_ns()) < until_ns;) {
		struct pollfd in = {.fd = terminal.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
		const int n = poll(&in, 1, (int)((until_ns - now) / 1000000 + 1));
		if (asked_to_stop)
			stop();
		else if (n > 0 && !(in.revents & POLLIN))
			terminal.has_keys = false; /* the terminal is gone */
		else if (n > 0)
			quits = has_key_q();
	}
	return quits || asked_to_end;
}
