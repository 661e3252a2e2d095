// SPDX-License-Identifier: BSD-3-Clause
// What threads and GPUs do, in a few states. Each has one colour in every view and every report.
// The colours are those of M. Okabe and K. Ito, which colour-blind people tell apart (style.css).

const STATES = {
  work: "working",
  openmp: "OpenMP",
  mpi: "MPI",
  torch: "PyTorch collectives",
  lock: "lock, condition",
  io: "I/O",
  ready: "ready, no processor",
  gpu: "waiting for a GPU",
  sleep: "sleep, other waits",
  kernel: "GPU kernel",
  copy: "GPU copy, set",
  idle: "GPU idle",
  none: "not started, ended or not sampled",
};

// What waits for a GPU without samples has a placeholder, in a function that may have no name.
function isSync(p, context) {
  const fn = p.fn[context];
  return fn >= 0 && p.functions.gpuKind[fn] === OP_SYNC;
}
// The state of a thread in a context.
function stateOf(p, context) {
  return isSync(p, context) ? "gpu" : p.meta.activities[p.activity[context]].state;
}
// The state of a context that waits, else "". Operations of a GPU are no waits, even where the call
// that started them waits for their end.
function waitOf(p, context) {
  if (["kernel", "device", "copy"].includes(p.className(context))) return "";
  const state = stateOf(p, context);
  return ["work", "none", "kernel", "copy"].includes(state) ? "" : state;
}
// The state of a GPU while an operation runs.
function stateOfOperation(kind) {
  return kind === OP_KERNEL ? "kernel" : "copy";
}
// For an element. shade: 0 is the plain colour of the state, others have a pattern.
function stateClass(state, shade = 0) {
  return `state state-${state} shade-${Math.min(shade, 5)}`;
}
// For a canvas.
function stateColour(state) {
  return cssColour(`state-${state}`);
}
// [state, words] of each colour: a GPU that runs a kernel has that of a thread that works.
function legendRows(states) {
  const rows = new Map();
  for (const s of Object.keys(STATES).filter(s => states.has(s))) {
    const colour = stateColour(s),
      row = rows.get(colour);
    rows.set(colour, row ? [row[0], `${row[1]}; ${STATES[s]}`] : [s, STATES[s]]);
  }
  return [...rows.values()];
}
// states: those to show, in the order of STATES.
function stateLegend(states) {
  return el(
    "div",
    { class: "legend", "aria-label": "Colours" },
    ...legendRows(states).map(([s, words]) =>
      el("span", {}, el("i", { class: `swatch ${stateClass(s)}` }), words),
    ),
  );
}
