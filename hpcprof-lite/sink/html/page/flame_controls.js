// SPDX-License-Identifier: BSD-3-Clause
// What is around a flame graph: its controls, the path to what is zoomed, hidden frames, legend.

const FLAME_KINDS = { down: "Top-down", up: "Bottom-up", both: "Callers and callees" },
  FLAME_SIDES = { before: "before", "": "difference", now: "now" };
const FLAME_FUNCTIONS = 300; // in the list of functions

class FlameControls {
  constructor(view, container) {
    this.view = view;
    this.app = view.app;
    this.profile = view.profile;
    this.make(container);
  }
  segments(label, words, choose) {
    const box = el("div", { class: "segments", role: "group", "aria-label": label });
    for (const [value, text] of Object.entries(words))
      box.append(
        el("button", { type: "button", "data-value": value, onclick: () => choose(value) }, text),
      );
    return box;
  }
  press(box, value) {
    for (const b of box.children) b.setAttribute("aria-pressed", String(b.dataset.value === value));
  }
  make(container) {
    const { app, profile, view } = this,
      hasGpu = profile.meta.modules.some(m => m.gpu),
      set = (key, first) => text => app.state.set({ [key]: text === first ? "" : text });
    this.firstLines = hasGpu ? "gpu" : "none";
    const setLines = set("flame.lines", this.firstLines);
    this.lines = el(
      "select",
      { "aria-label": "Lines", onchange: e => setLines(e.target.value) },
      el("option", { value: "none" }, "no lines"),
      hasGpu ? el("option", { value: "gpu" }, "lines of GPU code") : null,
      el("option", { value: "all" }, "all lines"),
    );
    this.loops = el("input", {
      type: "checkbox",
      onchange: e => app.state.set({ "flame.loops": e.target.checked ? "1" : "" }),
    });
    this.direction = this.segments("Direction", FLAME_KINDS, kind => view.turn(kind));
    this.sides = this.segments("Side", FLAME_SIDES, set("flame.side", ""));
    this.sides.hidden = !profile.isComparison;
    this.functions = el("select", {
      class: "functions",
      "aria-label": "Function",
      onchange: e => app.go("flame", { "flame.of": e.target.value }),
    });
    this.crumbs = el("div", { class: "crumbs" });
    this.hiddenList = el("div", { class: "chips" });
    this.share = el("span", { class: "share" });
    this.note = el("p", { class: "empty" });
    this.legend = el("div", { class: "legend", "aria-label": "Colours" });
    container.append(
      el(
        "div",
        { class: "controls" },
        this.direction,
        this.functions,
        this.sides,
        this.lines,
        el("label", { title: "Show loops as frames" }, this.loops, "loops"),
        this.hidings(),
        this.hiddenList,
        this.share,
      ),
    );
  }
  hidings() {
    const { app } = this;
    if (!app.presets.size) return null;
    const onchange = e => {
      const name = e.target.value;
      e.target.selectedIndex = 0;
      if (!app.groups.has(name)) app.toggleGroup(name);
    };
    return el(
      "select",
      { "aria-label": "Hide frames", onchange },
      el("option", { value: "" }, "Hide…"),
      ...[...app.presets.keys()].map(name => el("option", {}, name)),
    );
  }
  fillFunctions() {
    const { view, profile: p } = this;
    this.functions.hidden = view.kind !== "both";
    if (view.kind !== "both") return;
    const rows = view.functionRows().sort((a, b) => b.total - a.total).slice(0, FLAME_FUNCTIONS),
      list = rows.map(x => x.fn);
    if (!list.includes(view.fn)) list.unshift(view.fn);
    const text = f => shorten(shortLabel(p, p.functionName(f))).slice(0, 70);
    this.functions.replaceChildren(...list.map(f => el("option", { value: f }, text(f))));
    this.functions.value = view.fn;
  }
  drawHidden() {
    const chip = (name, show) =>
      el(
        "button",
        { type: "button", class: "chip", title: "Show again", onclick: show },
        "without ",
        el("bdi", {}, name),
        " ×",
      );
    const { app } = this,
      { hidden } = this.view;
    const showName = name =>
      app.state.set({ "flame.names": [...hidden].filter(n => n !== name).join("\n") });
    const hadFocus = this.hiddenList.contains(document.activeElement);
    this.hiddenList.replaceChildren(
      ...[...app.groups.keys()].map(n => chip(n, () => app.toggleGroup(n))),
      ...[...hidden].map(n => chip(n, () => showName(n))),
    );
    if (hadFocus) (this.hiddenList.firstChild ?? this.view.canvas).focus();
  }
  drawLegend() {
    const { view, profile: p } = this,
      part = (cls, text) =>
        el("span", {}, cls ? el("i", { class: `swatch ${cls}` }) : null, text);
    const classes = new Set(),
      states = new Set();
    for (const { node } of view.boxes)
      if (view.tree.waits[node.frame]) states.add(view.tree.waits[node.frame]);
      else if (node.frame) classes.add(p.className(view.tree.context[node.frame]));
    classes.delete("entry");
    const waits = states.size ? stateLegend(states).children : [];
    this.legend.replaceChildren(
      ...p.classNames.filter(c => classes.has(c)).map(c => part(`frame-${c}`, CLASSES[c])),
      ...(states.size ? [part("", "waits:")] : []),
      ...waits,
    );
  }
  drawChangeLegend() {
    const { side } = this.view,
      widths = side in FLAME_SIDES && side ? side : "the mean of both sides",
      change = (now, isNoise, text) => {
        const style = `background:${changeColour(now, 1, isNoise)}`;
        return el("span", {}, el("i", { class: "swatch", style }), text);
      };
    this.legend.replaceChildren(
      change(2, false, "more than before"),
      change(0.5, false, "less than before"),
      change(1, true, "noise: chance explains the difference"),
      el("span", {}, `widths: ${widths}`),
    );
  }
  // Shows the options of the state.
  set(options) {
    const { kind, side } = this.view;
    this.lines.value = options.lines;
    this.loops.checked = options.loops;
    this.press(this.direction, kind);
    this.press(this.sides, side in FLAME_SIDES ? side : "");
  }
  draw() {
    const isEmpty = !this.view.boxes.length;
    this.drawCrumbs();
    this.drawHidden();
    this.note.hidden = !isEmpty;
    this.legend.hidden = isEmpty;
    if (isEmpty) this.note.textContent = this.emptyText();
    else if (this.profile.isComparison) this.drawChangeLegend();
    else this.drawLegend();
  }
  drawCrumbs() {
    const { view } = this,
      parts = [];
    for (let at = view.zoomed; at; at = at.parent) {
      const node = at;
      parts.unshift(
        el(
          "button",
          { type: "button", title: view.nameOf(node), onclick: () => view.zoom(node) },
          el("bdi", {}, view.labelOf(node)),
        ),
      );
    }
    const hadFocus = this.crumbs.contains(document.activeElement);
    this.crumbs.replaceChildren(...(parts.length > 1 ? parts.slice(-8) : []));
    this.crumbs.hidden = parts.length < 2;
    if (hadFocus) (this.crumbs.lastChild ?? view.canvas).focus();
  }
  emptyText() {
    const { view } = this,
      { label } = this.profile.metrics[this.app.metric],
      where = this.profile.isSelected ? "the selection" : "this run";
    if (view.kind !== "both") return `${where} has no ${label}`;
    return `${this.profile.functionName(view.fn)} has no ${label} in ${where}`;
  }
}
