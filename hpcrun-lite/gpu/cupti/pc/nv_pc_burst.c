/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts: continuous sampling with short windows in which kernels run one at a time and samples
 * know their launch. With the windows we check the samples outside of them, which are apportioned
 * by time. Test: tests/unit/cupti/test_cupti_pc_gate.c.
 *
 * The mode cannot change while sampling is enabled, Disable and Enable wait for running kernels,
 * and the first launch afterwards takes 65 ms (doc/notes/cupti-facts.md A9, A12). So our own thread
 * begins and ends a window, while the gate holds the program's launches and the device is idle.
 * Then nothing has to wait and no launch is active. If the device does not become idle within 0.4
 * s, the launches go on, and we try again later, less and less often. If a program's kernels always
 * overlap, or wait for something that the CPU launches next, it has no windows; a note says so.
 *
 * Windows contain at most N percent of the launches and take N percent of the time. The first one
 * is short and comes as soon as these limits permit, so that short programs have one. Kernels that
 * wait for one another, like those of NCCL, must not be serialized; do not use this mode or
 * mode=serialized for such programs.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#define LEAST_LAUNCHES 10u
#define MOST_LAUNCHES 100u
#define WINDOW_NS UINT64_C(400000000)     /* longest window, if there are few launches */
#define FIRST_PAUSE_NS UINT64_C(100000000) /* after an attempt that found the device busy */
#define CHANGE_NS UINT64_C(65000000)       /* duration of the first launch after a window */
#define MOST_PAUSE_NS UINT64_C(30000000000)

static void put_off(struct nv_pc_session *s)
{
	struct nv_pc_burst *b = &s->burst;
	b->pause_ns = !b->pause_ns                  ? FIRST_PAUSE_NS
		      : b->pause_ns < MOST_PAUSE_NS ? 2 * b->pause_ns
						    : MOST_PAUSE_NS;
	b->next_ns = nv.lib.now_ns() + b->pause_ns;
}

/* The device is idle and launches are held. */
static bool change_mode(struct nv_pc_session *s, bool serialized)
{
	nv_pc_disable(s);
	return s->state == NV_PC_PAUSED && nv_pc_enable(s, serialized);
}

/* The number of launches that a window may have now. */
static uint64_t allowed(const struct nv_pc_burst *b, uint64_t n_launches)
{
	uint64_t n = n_launches * nv.options.percent / 100;
	n = n > b->n_in_windows ? n - b->n_in_windows : 0;
	return n < MOST_LAUNCHES ? n : MOST_LAUNCHES;
}

static void begin_window(struct nv_pc_session *s, uint64_t now)
{
	struct nv_pc_burst *b = &s->burst;
	if (!nv_pc_hold(s, now + NV_PC_HOLD_NS)) {
		put_off(s);
		return;
	}
	b->begin_ns = now;
	b->begin_launches = nv_pc_n_launches();
	b->n_wanted = allowed(b, b->begin_launches);
	if (change_mode(s, true))
		nv_pc_gate_limit(b->begin_launches + b->n_wanted);
	nv_pc_gate_open();
}

static void count_window(struct nv_pc_burst *b)
{
	uint64_t n = nv_pc_n_launches() - b->begin_launches;
	b->n_in_windows += n < b->n_wanted ? n : b->n_wanted;
}

void nv_pc_burst_rest(struct nv_pc_session *s)
{
	if (nv.options.pc != NV_PC_BURSTS || !s->is_serialized)
		return;
	nv_pc_gate_limit(0);
	count_window(&s->burst);
	s->is_serialized = false;
}

/* Launches that wait at the gate are already counted. */
static void end_window(struct nv_pc_session *s)
{
	struct nv_pc_burst *b = &s->burst;
	nv_pc_gate_limit(0);
	if (!nv_pc_hold(s, nv.lib.now_ns() + NV_PC_HOLD_NS))
		return; /* try again soon: the kernels end one by one */
	count_window(b);
	change_mode(s, false);
	nv_pc_gate_open();
	uint64_t now = nv.lib.now_ns();
	b->pause_ns = 0;
	b->next_ns = now + (now - b->begin_ns + CHANGE_NS) * (100 - nv.options.percent) /
				   nv.options.percent;
}

void nv_pc_burst_begin(void)
{
	nv_pc_wake_at((LEAST_LAUNCHES * 100 + nv.options.percent - 1) / nv.options.percent);
}

bool nv_pc_burst_is_over(struct nv_pc_session *s)
{
	struct nv_pc_burst *b = &s->burst;
	b->is_over = nv.lib.agree(NV_AGREE_BURST,
				  nv_pc_n_launches() - b->begin_launches >= b->n_wanted ||
					  nv.lib.now_ns() - b->begin_ns >= WINDOW_NS);
	return b->is_over;
}

void nv_pc_burst(struct nv_pc_session *s)
{
	struct nv_pc_burst *b = &s->burst;
	uint64_t now = nv.lib.now_ns(), n = nv_pc_n_launches();
	if (s->is_serialized) {
		if (b->is_over)
			end_window(s);
	} else if (nv.lib.agree(NV_AGREE_BURST, now >= b->next_ns && n != b->last_launches &&
							allowed(b, n) >= LEAST_LAUNCHES)) {
		b->is_over = false;
		begin_window(s, now);
	}
	b->last_launches = n;
}

void nv_pc_burst_end(struct nv_pc_session *s)
{
	const struct nv_pc_burst *b = &s->burst;
	uint64_t n =
		b->n_in_windows + (s->is_serialized ? nv_pc_n_launches() - b->begin_launches : 0);
	if (nv.options.pc == NV_PC_BURSTS && !n && !b->is_said)
		nv_note(b->pause_ns ? "no launch was in a serialized window, because the device "
				      "was never idle"
				    : "no launch was in a serialized window, because there were "
				      "too few or all came at once",
			"; the apportioned samples could not be verified", "");
	s->burst.is_said = true;
}
