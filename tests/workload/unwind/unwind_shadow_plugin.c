/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of unwind_shadow.cc that is opened and closed while it is sampled: a function that calls
 * itself, and back. */
struct plugin_calls {
	void (*enter)(void *);
	void (*leave)(void);
	unsigned (*callback)(unsigned);
};

unsigned shadow_plugin_entry(unsigned n, const struct plugin_calls *calls);

__attribute__((noinline)) unsigned shadow_plugin_entry(unsigned n, const struct plugin_calls *calls)
{
	calls->enter(__builtin_return_address(0));
	unsigned v =
		n ? shadow_plugin_entry(n - 1, calls) + calls->callback(n) : calls->callback(1);
	calls->leave();
	return v;
}
