// SPDX-License-Identifier: BSD-3-Clause
// The table of all GPU kernels. The chosen kernel and the sorting are in the state.

const KERNEL_ROWS = 10; // that are on the screen without scrolling

// Columns: [key, column of Table, the kernels that have a value].
function kernelColumns(app, whole) {
  const p = app.profile,
    words = text => el("span", { class: "words", title: text }, text);
  const column = (title, hint, width, value, text, share) =>
    ({ title, hint, width, value, text, share });
  // Sorted by a number, shown as text.
  const texts = (...rest) => ({ ...column(...rest), isText: true });
  return [
    column("GPU time", "while the kernel ran, of all launches", 80, k => k.time,
      k => formatSeconds(k.time), k => k.time / whole),
    column("share", "of the time of all kernels", 66, k => k.time, k => percent(k.time, whole)),
    column("launches", "how often it was launched", 76, k => k.launches, k => count(k.launches)),
    column("mean", "GPU time of a launch", 76, k => (k.launches ? k.time / k.launches : 0),
      k => formatSeconds(k.time / k.launches)),
    column("occupancy", "warps that fit on an SM at a time, of the most that it can hold", 88,
      k => k.occupancy, k => `${k.occupancy.toFixed(0)} %`),
    texts("limited by", "what keeps the occupancy from 100 %", 100, k => k.limitOrder,
      k => words(k.limit)),
    texts("main stall", "what warps waited for most often, of the samples of this kernel", 250,
      k => k.stallShare, k => words(`${percent(k.stallShare, 1)} ${stallWords(p, k.stall)}`)),
    texts("could be faster", "what the advice estimates to save, and how; of the time of all devices", 230,
      k => k.advice?.saves ?? 0,
      k => words(`${percent(k.advice.saves, 1)} ${p.str(k.advice.title)}`)),
  ];
}

class KernelTable extends Table {
  // shown(kernel): the reader chose it.
  constructor(app, kernels, shown) {
    const whole = kernels.reduce((sum, k) => sum + k.time, 0) || 1,
      p = app.profile;
    super({
      label: "GPU kernels",
      sort: app.state.number("kernels.sort", 1),
      columns: [
        {
          title: "kernel",
          wide: true,
          node: k => frameNode(app, k.contexts[0], p.functionName(k.fn)),
        },
        ...kernelColumns(app, whole).filter(c => kernels.some(c.value)),
      ],
      onenter: shown,
    });
    this.app = app;
    this.box.classList.add("kernel-table");
    this.box.style.height = `${(Math.min(KERNEL_ROWS, kernels.length) + 2.2) * TABLE_ROW}px`;
    this.box.addEventListener("contextmenu", e => this.openMenu(e));
  }
  drawHead() {
    super.drawHead();
    this.columns.forEach((c, i) => this.head.children[i].classList.toggle("words", !!c.isText));
  }
  sortBy(i) {
    super.sortBy(i);
    this.head.children[i].focus();
    this.app.state.set({ "kernels.sort": this.sort === 1 ? "" : this.sort });
  }
  choose(kernel) {
    this.current = Math.max(0, this.flat.indexOf(kernel));
    this.show();
  }
  toggle(row) {
    super.toggle(row);
    this.onenter(row);
  }
  key(e) {
    if (e.key === "m" && e.target === this.box && !e.ctrlKey && !e.metaKey) this.openMenu(e);
    else super.key(e);
  }
  // At the pointer, or at the current row.
  openMenu(e) {
    const at = e.target.closest("[aria-rowindex]");
    if (at) this.current = +at.ariaRowIndex - 1;
    this.show();
    const kernel = this.flat[this.current],
      row = this.body.querySelector(".current")?.getBoundingClientRect();
    if (!kernel || !row) return;
    e.preventDefault();
    openMenu(e.clientX === undefined ? { clientX: row.left + 24, clientY: row.bottom } : e,
      this.entries(kernel));
  }
  entries(kernel) {
    const app = this.app,
      name = app.profile.functionName(kernel.fn);
    return [
      ["Select this kernel in all views", () => app.select({ frame: { fn: kernel.fn } })],
      ["Show source", () => app.showSource(kernel.contexts[0])],
      ["Show callers in the flame graph", () =>
        app.select({ frame: { fn: kernel.fn } }, { view: "flame", "flame.up": 1 })],
      ["Copy name", () => copyText(name)],
    ];
  }
}
