// SPDX-License-Identifier: BSD-3-Clause
// The table of all GPU kernels. The chosen kernel and the sorting are in the state.

// Columns: [key, column of Table, the kernels that have a value].
function kernelColumns(app, whole) {
  const p = app.profile,
    words = text => el("span", { class: "words", title: text }, text);
  const column = (title, hint, width, value, text, share) =>
    ({ title, hint, width, value, text, share });
  // Sorted by a number, shown as text.
  const texts = (...rest) => ({ ...column(...rest), isText: true, least: 90 });
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

// The table; draw() gives it columns and rows. onenter(kernel): the reader chose it.
function makeKernelTable(app, onenter) {
  const p = app.profile,
    table = new Table({
      app,
      key: "kernels",
      label: "GPU kernels",
      sort: "0",
      onenter,
      isMatch: k => app.search.test(p.functionName(k.fn)),
      menu: k => kernelMenu(app, k),
    });
  table.onchoose = onenter;
  table.box.classList.add("kernel-table");
  return table;
}
function drawKernelTable(table, app, kernels) {
  const p = app.profile,
    whole = kernels.reduce((sum, k) => sum + k.time, 0) || 1;
  table.setColumns([
    {
      id: "name",
      title: "kernel",
      wide: true,
      least: 200,
      most: 520,
      node: k => frameNode(app, k.contexts[0], p.functionName(k.fn)),
    },
    ...kernelColumns(app, whole)
      .map((c, i) => ({ ...c, id: String(i) }))
      .filter(c => kernels.some(c.value)),
  ]);
  table.setRows(kernels);
}
function kernelMenu(app, kernel) {
  const { fn } = kernel;
  return [
    ["Select only this", () => app.select({ frame: { fn } })],
    ["Source", () => app.showSource(kernel.contexts[0])],
    ["Callers and callees", () => app.go("flame", { "flame.of": fn })],
    ["Copy name", () => copyText(app.profile.functionName(fn))],
  ];
}
