// SPDX-License-Identifier: BSD-3-Clause
// Time lines: mouse, keys and the controls above them.

class TimelineInput {
  constructor(view) {
    this.view = view;
    const { canvas } = view;
    canvas.addEventListener("wheel", e => view.wheel(e), { passive: false });
    canvas.addEventListener("mousedown", e => this.press(e));
    addEventListener("mousemove", e => this.move(e));
    addEventListener("mouseup", e => this.release(e));
    canvas.addEventListener("mouseleave", () => this.leave());
    canvas.addEventListener("dblclick", e => {
      if (this.place(e).x > LINE_LABEL) view.app.select({ time: null });
    });
    canvas.addEventListener("contextmenu", e => this.menu(e));
    canvas.addEventListener("keydown", e => this.key(e));
    view.wheel = e => this.wheel(e);
  }
  // {row, time, x, share}, as under() wants them.
  place(e) {
    const { view } = this,
      box = view.canvas.getBoundingClientRect(),
      x = e.clientX - box.left,
      y = e.clientY - box.top,
      at = view.rowAt(y);
    const share = at ? 1 - (y - at.y - LANE_EDGE) / (at.height - 2 * LANE_EDGE) : 0;
    return { x, row: at?.row, share: Math.max(0, Math.min(1, share)), time: view.time(x) };
  }
  wheel(e) {
    const { view } = this,
      isPlain = !e.shiftKey && !e.ctrlKey && Math.abs(e.deltaY) > Math.abs(e.deltaX);
    if (isPlain) return; // scrolls the rows or the page
    e.preventDefault();
    const x = e.clientX - view.canvas.getBoundingClientRect().left,
      room = view.width - LINE_LABEL,
      size = view.to - view.from;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      const step = ((e.deltaX || e.deltaY) / room) * size;
      view.setRange(view.from + step, view.to + step);
    } else {
      const factor = Math.exp(Math.max(-60, Math.min(60, e.deltaY)) / 240);
      view.zoomBy(factor, Math.max(0, (x - LINE_LABEL) / room));
    }
  }
  press(e) {
    if (e.button !== 0) return;
    const at = this.place(e);
    if (at.x >= LINE_LABEL) this.view.drag = { x: e.clientX, from: at.time };
    else if (at.row) this.pressName(at, e.shiftKey);
  }
  // The triangle folds, the right end pins, the rest selects.
  pressName({ row, x }, extend) {
    const { view } = this,
      left = 8 + row.depth * LINE_INDENT;
    if (row.children.length && x >= left - 4 && x < left + LINE_INDENT) view.toggle("folded", row);
    else if (x > LINE_LABEL - 14 && !view.rows.summaries.includes(row)) view.toggle("pinned", row);
    else view.selectRow(row, extend);
  }
  move(e) {
    const { view } = this,
      { drag } = view;
    if (!drag) {
      if (e.target === view.canvas) this.hover(e);
      return;
    }
    const time = Math.max(0, Math.min(view.span, this.place(e).time));
    if (Math.abs(e.clientX - drag.x) > 3 || drag.to !== undefined) drag.to = time;
    if (drag.to !== undefined) this.showDrag(e, drag);
    view.paint();
  }
  showDrag(e, drag) {
    const [a, b] = [drag.from, drag.to].sort((x, y) => x - y),
      step = (b - a) / 50 || 1;
    Tip.show(
      e,
      `${formatTime(a, step)} to ${formatTime(b, step)}: ${formatSeconds((b - a) / 1e6)}`,
    );
  }
  release(e) {
    const { view } = this,
      { drag } = view;
    view.drag = null;
    if (!drag) return;
    if (drag.to !== undefined && drag.to !== drag.from) {
      const [a, b] = [drag.from, drag.to].sort((x, y) => x - y);
      return view.app.select({ time: [Math.max(0, a), b] });
    }
    if (e.target !== view.canvas) return;
    const at = this.place(e),
      found = view.under(at);
    if (at.row) view.choose(at.row, found ? found.time : null);
  }
  hover(e) {
    const { view } = this,
      at = this.place(e),
      found = view.under(at),
      isOther = found?.op !== view.hovered?.op || found?.row !== view.hovered?.row;
    if (isOther && (found?.op !== undefined || view.hovered?.op !== undefined)) view.paint();
    view.hovered = found;
    view.canvas.style.cursor = at.x < LINE_LABEL ? "pointer" : "crosshair";
    if (found) Tip.show(e, ...view.tip(found));
    else if (at.row && at.x < LINE_LABEL) Tip.show(e, el("bdi", {}, at.row.title));
    else Tip.hide();
  }
  leave() {
    const { view } = this;
    Tip.hide();
    if (view.hovered?.op !== undefined) view.paint();
    view.hovered = null;
  }
  menu(e) {
    const { view } = this,
      at = this.place(e);
    if (!at.row) return;
    const found = view.under(at),
      actions = found ? view.actions(found) : view.rowActions(at.row);
    if (!actions.length) return;
    e.preventDefault();
    Tip.hide();
    openMenu(e, actions);
  }
  // The menu of the chosen moment, or of the chosen row.
  menuByKey() {
    const { view } = this,
      row = view.chosen,
      found = view.at === null ? null : view.foundAt(row, view.at),
      box = view.canvas.getBoundingClientRect();
    const i = view.list.indexOf(row),
      y = i < 0 ? LINE_AXIS : view.rowY(i),
      x = found ? Math.max(LINE_LABEL, Math.min(view.width, view.x(view.at))) : 20;
    const actions = found ? view.actions(found) : view.rowActions(row);
    if (actions.length)
      openMenu({ clientX: box.left + x, clientY: box.top + y + LINE_ROW }, actions);
  }
  key(e) {
    const { view } = this,
      size = view.to - view.from;
    if (!view.chosen || e.ctrlKey || e.metaKey || e.altKey) return;
    const moves = {
      arrowleft: () => view.setRange(view.from - size / 8, view.to - size / 8),
      arrowright: () => view.setRange(view.from + size / 8, view.to + size / 8),
      "+": () => view.zoomBy(0.5),
      "=": () => view.zoomBy(0.5),
      "-": () => view.zoomBy(2),
      0: () => view.setRange(0, view.span),
      arrowdown: () => view.chooseRow(1),
      arrowup: () => view.chooseRow(-1),
      home: () => view.chooseRow(-Infinity),
      end: () => view.chooseRow(Infinity),
      ",": () => view.step(-1),
      ".": () => view.step(1),
      enter: () => view.selectVisible(),
      " ": () => view.selectRow(view.chosen, e.shiftKey),
      o: () => view.chosen.children.length && view.toggle("folded", view.chosen),
      p: () => !view.rows.summaries.includes(view.chosen) && view.toggle("pinned", view.chosen),
      m: () => this.menuByKey(),
      escape: () => view.app.select({ time: null, profiles: null }, { "timeline.at": "" }),
    };
    const move = moves[e.key.toLowerCase()];
    if (!move) return;
    e.preventDefault();
    move();
  }
}

class TimelineControls {
  constructor(view, container) {
    this.view = view;
    this.legend = el("div", { class: "legend-box" });
    const button = (label, title, action) =>
      el("button", { type: "button", title, onclick: action }, label);
    this.bar = el(
      "div",
      { class: "controls" },
      this.makeModes(),
      button("−", "Zoom out (-)", () => view.zoomBy(2)),
      button("+", "Zoom in (+)", () => view.zoomBy(0.5)),
      button("Whole run", "Show all time (0), and select no part of it", () => {
        view.setRange(0, view.span);
        view.app.select({ time: null });
      }),
      button("Select this range", "Limit every view to the visible time (Enter)", () =>
        view.selectVisible(),
      ),
      this.makeSort(),
      view.rows.all.some(r => r.kind === "process")
        ? button("Open or close all", "Show all threads, or only processes and GPUs", () =>
            view.foldAll(),
          )
        : null,
      this.makeDepth(),
      this.makeArrows(),
    );
    const hint =
      "Drag selects time. Ctrl with the wheel zooms, Shift with the wheel moves. Click a name to select its rows, " +
      "its right end to pin it. ? lists the keys.";
    container.append(
      this.bar,
      el("div", { class: "controls" }, this.legend, el("span", { class: "keys hint" }, hint)),
    );
  }
  makeModes() {
    const set = mode => () => this.view.set({ mode });
    this.modes = el(
      "div",
      { class: "segments", role: "group", "aria-label": "Colours show" },
      el("button", { type: "button", "data-mode": "states", onclick: set("") }, "States"),
      el("button", { type: "button", "data-mode": "frames", onclick: set("frames") }, "Frames"),
    );
    return this.modes;
  }
  makeSort() {
    this.sort = el(
      "select",
      { onchange: e => this.view.set({ sort: e.target.value }) },
      el("option", { value: "" }, "by name"),
      el("option", { value: "work" }, "by working time"),
      el("option", { value: "frame" }, "by selected function"),
    );
    return el("label", {}, "rows ", this.sort);
  }
  makeDepth() {
    this.slider = el("input", {
      type: "range",
      min: 0,
      max: Math.max(1, this.view.tree.maxDepth),
      "aria-label": "Depth of the call path that gives the colour",
      oninput: e =>
        this.view.set({ depth: +e.target.value === this.view.usualDepth ? "" : e.target.value }),
    });
    this.depthText = el("span", { class: "quiet" });
    const title = "Time lines show the frame at this depth of the call path";
    return (this.depth = el("label", { title }, "depth ", this.slider, this.depthText));
  }
  makeArrows() {
    if (!this.view.profile.hasFlow) return null;
    this.arrows = el("input", {
      type: "checkbox",
      onchange: e => this.view.set({ arrows: e.target.checked ? "" : "0" }),
    });
    return el("label", {}, this.arrows, "arrows from launch to operation");
  }
  show() {
    const { view } = this;
    for (const b of this.modes.children)
      b.setAttribute("aria-pressed", String(b.dataset.mode === view.mode));
    this.depth.hidden = view.mode !== "frames";
    this.slider.value = view.depth;
    this.depthText.textContent = view.depth ? ` ${view.depth}` : " innermost";
    if (this.arrows) this.arrows.checked = view.hasArrows;
    this.sort.options[2].disabled = !view.profile.selection.frame;
    this.sort.value = view.sortValue ? view.sort : "";
  }
  // Of the states that are on the screen.
  showLegend(present) {
    const key = [...present].sort().join();
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.replaceChildren(stateLegend(present));
  }
}
