// SPDX-License-Identifier: BSD-3-Clause
// Loops of C++ with their truth; see loops.c.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

int cond(int);
void use(int);

struct guard {
	int id;
	explicit guard(int i) : id(i) { use(i); }
	~guard() { use(-id); }
};

void iterators(const std::vector<int> &v)
{
	for (auto i = v.begin(); i != v.end(); ++i) // @ iterators begin -
		use(*i);
	for (int x : v) // @ iterators range -
		for (size_t k = 0; k < v.size(); k++) // @ iterators size range
			use(x + v[k]);
}

void lambdas(const std::vector<int> &v)
{
	auto visit = [](int a) {
		while (cond(a)) // @ operator() loop -
			a++;
	};
	for (int x : v) // @ lambdas outer -
		visit(x);
}

// Exceptions leave and enter the loop where no jump is seen.
int exceptions(const std::vector<int> &v)
{
	int n = 0;
	for (size_t i = 0; i < v.size(); i++) { // @ exceptions loop -
		guard g(v[i]);
		try {
			use(v[i]);
		} catch (const std::string &s) {
			n += (int)s.size();
			continue;
		} catch (int x) {
			if (x == 3)
				break;
			n += x;
		}
		n++;
	}
	return n;
}

template<typename T> T accumulate(const T *a, int n)
{
	T s = 0;
	for (int i = 0; i < n; i++) // @ accumulate loop -
		s += cond((int)a[i]);
	return s;
}
template int accumulate<int>(const int *, int);
template double accumulate<double>(const double *, int);

int trees(const std::map<int, int> &m)
{
	int s = 0;
	for (const auto &e : m) { // @ trees outer -
		if (e.second < 0)
			throw e.first;
		for (int i = 0; i < e.second; i++) // @ trees inner outer
			s += cond(i);
	}
	return s;
}
