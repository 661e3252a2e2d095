// SPDX-License-Identifier: BSD-3-Clause
// Work for tests/cli/unwind/unwind_complete.sh: collections, sorting by closures, recursion, formatting, panics caught.
use std::collections::BTreeMap;

#[inline(never)]
fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[inline(never)]
fn words(n: u64) -> usize {
    let mut map: BTreeMap<String, u64> = BTreeMap::new();
    for i in 0..n {
        *map.entry(format!("word{}", i * 7919 % 997)).or_insert(0) += i;
    }
    let mut list: Vec<_> = map.into_iter().collect();
    list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    list.iter().map(|(w, _)| w.len()).sum()
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(10);
    std::panic::set_hook(Box::new(|_| {}));
    let mut total = 0;
    for i in 0..rounds {
        total += words(20000) as u64 + ackermann(2, 300 + i % 3);
        total += std::panic::catch_unwind(|| if i % 2 == 0 { panic!("now and then") } else { i }).unwrap_or(1);
    }
    println!("{}", total);
}
