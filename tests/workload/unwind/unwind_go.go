// SPDX-License-Identifier: BSD-3-Clause

// Goroutines that compute in Go, in the run time (maps, growing stacks) and in C.
package main

/*
static double in_c(int n)
{
	volatile double s = 0;
	for (int i = 1; i < n; i++)
		s += i * 0.5;
	return s;
}
*/
import "C"

import "os"

//go:noinline
func inGo(n int) int {
	if n < 2 {
		return n
	}
	return inGo(n-1) + inGo(n-2)
}

//go:noinline
func deeper(n int) int {
	var room [128]byte
	room[n%128] = byte(n)
	if n == 0 {
		return int(room[0])
	}
	return deeper(n-1) + int(room[n%128])
}

//go:noinline
func inRunTime(n int) int {
	m := map[int]int{}
	for i := 0; i < n; i++ {
		m[i] = i
	}
	done := make(chan int)
	for i := 0; i < 20; i++ {
		go func() { done <- deeper(3000) }()
	}
	for i := 0; i < 20; i++ {
		<-done
	}
	return len(m)
}

func main() {
	done := make(chan int)
	for g := 0; g < 2; g++ {
		go func() { done <- inGo(31) + inRunTime(200000) + int(C.in_c(30000000)) }()
	}
	if <-done != <-done {
		os.Exit(1)
	}
}
