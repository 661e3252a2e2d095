// SPDX-License-Identifier: BSD-3-Clause
/** Recursion, sorting with a callback, and allocation, for tests/cli/unwind/unwind_languages.sh. */
public class UnwindJava {
	static int fib(int n) {
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	}

	static int sort(int n) {
		Integer[] numbers = new Integer[n];
		for (int i = 0; i < n; i++)
			numbers[i] = i * 7919 % n;
		java.util.Arrays.sort(numbers, (x, y) -> Integer.compare(x, y));
		return numbers[0];
	}

	public static void main(String[] arguments) {
		int sum = 0;
		for (int i = 0; i < 2; i++)
			sum += fib(33) + sort(100000);
		System.out.println(sum);
	}
}
