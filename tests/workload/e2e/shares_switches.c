/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that give the processor away all the time: two pairs that pass a token through pipes,
 * with a little work between. A good part of their CPU time is the switching itself. The truth is
 * each thread's own CPU clock. See shares.h.
 */
#include "shares.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

struct player {
	int from, to;
	double end_s, used_s;
	const char *name;
};

static volatile uint64_t sink;

/* Ends when its CPU time is used up, or when the other has gone. */
static void *play(void *arg)
{
	struct player *p = arg;
	uint64_t x = 1;
	char token;

	pthread_setname_np(pthread_self(), p->name);
	for (unsigned n = 1; read(p->from, &token, 1) == 1; n++) {
		for (int i = 0; i < 300; i++)
			UNIT(x);
		if (write(p->to, &token, 1) != 1 ||
		    (n % 64 == 0 && shares_thread_cpu_s() > p->end_s))
			break;
	}
	close(p->to);
	sink = x;
	p->used_s = shares_thread_cpu_s();
	return NULL;
}

static void pair(pthread_t thread[2], struct player player[2], double end_s)
{
	int a[2], b[2];

	if (pipe(a) != 0 || pipe(b) != 0 || write(a[1], "t", 1) != 1) {
		perror("pipe");
		exit(1);
	}
	player[0].from = a[0], player[0].to = b[1], player[0].end_s = end_s;
	player[1].from = b[0], player[1].to = a[1], player[1].end_s = end_s;
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&thread[i], NULL, play, &player[i]) != 0) {
			perror("pthread_create");
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	const double end_s = shares_seconds(argc, argv) / 4;
	struct player player[4] = {
		{.name = "ping1"}, {.name = "pong1"}, {.name = "ping2"}, {.name = "pong2"}};
	pthread_t thread[4];

	signal(SIGPIPE, SIG_IGN);
	pair(thread, player, end_s);
	pair(thread + 2, player + 2, end_s);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 4; i++)
		shares_truth(player[i].name, player[i].used_s);
	return 0;
}
