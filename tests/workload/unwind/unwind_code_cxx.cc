// SPDX-License-Identifier: BSD-3-Clause
// C++ frames for unwind_steps.c: exceptions thrown, cleaned up, caught and thrown on; virtual
// calls, lambdas, templates of the library.
#include "tests/workload/unwind/unwind_steps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
volatile unsigned sink;

struct guard {
	unsigned value;
	explicit guard(unsigned v) : value(v)
	{
	}
	__attribute__((noinline)) ~guard()
	{
		sink = sink + value;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual unsigned area(unsigned n) const = 0;
};
struct square : shape {
	__attribute__((noinline)) unsigned area(unsigned n) const override
	{
		return n * n;
	}
};
struct pile : shape {
	std::vector<const shape *> of;
	__attribute__((noinline)) unsigned area(unsigned n) const override
	{
		unsigned v = 0;
		for (const shape *s : of)
			v += s->area(n + v);
		return v;
	}
};

__attribute__((noinline)) unsigned throws_at(unsigned depth)
{
	guard g(depth);
	if (depth == 0)
		throw std::runtime_error("bottom");
	return throws_at(depth - 1) + 1;
}

__attribute__((noinline)) unsigned passes_on(unsigned depth)
{
	try {
		guard g(100);
		return throws_at(depth);
	} catch (const std::logic_error &) {
		return 1;
	} catch (const std::exception &) {
		sink = sink + 1;
		throw;
	}
}

void run_exceptions()
{
	try {
		sink = passes_on(2);
	} catch (const std::runtime_error &e) {
		sink = (unsigned)e.what()[0];
	}
}

void run_objects()
{
	square a, b;
	pile p, q;
	p.of = {&a, &b};
	q.of = {&a, &p, &b};
	sink = q.area(2);
}

void run_templates()
{
	std::vector<unsigned> v;
	for (unsigned i = 0; i < 30; i++)
		v.push_back(i * 11 % 30);
	std::sort(v.begin(), v.end(), [](unsigned a, unsigned b) {
		sink = a;
		return a > b;
	});
	std::map<std::string, unsigned> m;
	for (unsigned i = 0; i < 5; i++)
		m["key" + std::to_string(v[i])] += i;
	std::function<unsigned(unsigned)> f = [&](unsigned n) {
		return n ? f(n - 1) + (unsigned)m.size() : 0;
	};
	sink = f(4);
}
} // namespace

const struct steps_case code_cxx_cases[] = {
	{"exceptions", run_exceptions, 0},
	{"objects", run_objects, 0},
	{"templates", run_templates, 0},
	{nullptr, nullptr, 0},
};
