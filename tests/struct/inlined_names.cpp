// SPDX-License-Identifier: BSD-3-Clause
// Functions to which gcc gives no linkage names: lambdas, static functions, members of classes that
// no other file can see. No library is needed. Used by tests/cli/struct/struct_judge.sh.
extern "C" void report(int value);

namespace physics {
struct Grid {
	double v[64];
	template <class F> void each(F f)
	{
		for (double &x : v)
			x = f(x);
	}
};

static void heat(Grid &g, int n)
{
	for (int i = 0; i < n; i++)
		g.each([=](double x) { return x * 1.5 + i / (x + 1.0); });
}

static void cool(Grid &g, int n)
{
	for (int i = 0; i < n; i++) {
		g.each([=](double x) { return x * 0.5 + i / (x + 3.0); });
		g.each([](double x) { return 7.0 - x; }); g.each([](double x) { return 9.0 / x; });
	}
}

namespace {
template <class T> T norm(const T *v)
{
	T s = 0;
	for (int i = 0; i < 64; i++)
		s += v[i] * v[i];
	return s;
}

template <class T, int N> struct Box {
	struct Inner {
		static T scale(T x) { return x * N + 1; }
	};
	T value;
	T run() { return Inner::scale(value); }
};
} // namespace

inline namespace v2 {
static int plain(int a)
{
	return a * 3;
}
} // namespace v2
} // namespace physics

template <class F> static int apply(F f, int x)
{
	return f(x);
}

struct Sum {
	int k;
	auto add()
	{
		return [this](int x) { return x / (k + 3); };
	}
};

int total(int n)
{
	physics::Grid g = {{1.0}};
	physics::Box<int, 7> b{n};
	Sum s{n};
	struct Local {
		int operator()(int x) const { return x * 11; }
	};
	physics::heat(g, n);
	physics::cool(g, n);
	auto outer = [&](int q) { return [q](int z) { return z / q; }(n); };
	report(apply(outer, 3));
	report(apply([](auto x) { return x % 5; }, 4));
	report(apply(Local{}, n));
	return static_cast<int>(physics::norm(g.v)) + b.run() + physics::plain(n) + s.add()(n);
}
