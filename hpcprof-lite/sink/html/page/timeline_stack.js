// SPDX-License-Identifier: BSD-3-Clause
// The call stack of one thread over time, below the time lines.

const STACK_ROW = 15,
  MAX_STACK = 48;

class CallStack {
  constructor(view, container) {
    this.view = view;
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Call stack of the chosen row over time. Down and up arrows choose a frame, left and right " +
        "its neighbours, Enter or M opens its menu.",
    });
    this.title = el("h3", {});
    this.box = el("div", { class: "canvas-box stack" }, this.canvas);
    container.append(this.title, this.box);
    this.canvas.addEventListener("mousemove", e => this.hover(e));
    this.canvas.addEventListener("mouseleave", () => Tip.hide());
    this.canvas.addEventListener("wheel", e => view.wheel(e), { passive: false });
    for (const event of ["click", "contextmenu"])
      this.canvas.addEventListener(event, e => this.menu(e, this.find(e)));
    this.canvas.addEventListener("keydown", e => this.key(e));
    this.canvas.addEventListener("blur", () => this.focus(null));
  }
  // Runs of columns with the same path, and the boxes of frames in them.
  layOut(row) {
    const { view } = this,
      lane = view.states.lane(row),
      { tree } = view,
      runs = [];
    view.eachRun(
      lane,
      view.inFrame(lane, c => tree.of[c]),
      (frame, a, b) => runs.push({ path: tree.path(frame), a, b }),
    );
    this.boxes = [];
    const deepest = runs.reduce((n, r) => Math.max(n, Math.min(MAX_STACK, r.path.length)), 0);
    for (let d = 0; d < deepest; d++)
      for (let i = 0, k; i < runs.length; i = k) {
        const frame = runs[i].path[d];
        const goesOn = r => r && r.path[d] === frame && r.a === runs[k - 1].b;
        for (k = i + 1; goesOn(runs[k]);) k++;
        if (frame !== undefined) this.boxes.push({ frame, d, a: runs[i].a, b: runs[k - 1].b });
      }
    return deepest;
  }
  paint() {
    const { view } = this,
      row = view.chosen,
      shows = row?.kind === "thread" && hasIntervals(row.profile);
    this.boxes = [];
    const deepest = shows ? this.layOut(row) : 0;
    this.title.textContent = shows
      ? `Call stack of ${row.title}${deepest ? "" : ": nothing of the selection is in this time"}`
      : "";
    this.box.hidden = !deepest;
    if (!deepest) return;
    const g = prepareCanvas(this.canvas, view.width, Math.max(deepest, 4) * STACK_ROW + 2);
    g.font = "11px system-ui, sans-serif";
    for (const box of this.boxes) {
      const { frame, d, a, b } = box,
        y = d * STACK_ROW,
        fill = view.colourOf(frame);
      g.fillStyle = fill;
      g.fillRect(a, y, Math.max(0.7, b - a - (b - a > 3 ? 0.5 : 0)), STACK_ROW - 1);
      if (b - a > 34) {
        g.fillStyle = Colours.inkOn(fill);
        drawText(g, view.tree.label(frame), a + 3, y + STACK_ROW / 2, b - a - 6);
      }
      if (this.isFocused(box)) {
        g.strokeStyle = view.colour("accent");
        g.lineWidth = 2;
        g.strokeRect(a + 1, y, Math.max(1, b - a - 2), STACK_ROW - 2);
      }
    }
  }
  isFocused(box) {
    const at = this.focused;
    return !!at && at.d === box.d && at.frame === box.frame && at.a < box.b && at.b > box.a;
  }
  find(e) {
    const { left, top } = this.canvas.getBoundingClientRect(),
      x = e.clientX - left,
      d = Math.floor((e.clientY - top) / STACK_ROW);
    return this.boxes.find(b => b.d === d && x >= b.a && x < b.b);
  }
  hover(e) {
    const box = this.find(e),
      { view } = this,
      { left } = this.canvas.getBoundingClientRect();
    if (!box) return Tip.hide();
    const time = view.time(e.clientX - left);
    Tip.show(
      e,
      el("strong", {}, el("bdi", {}, view.tree.name(box.frame))),
      el("div", { class: "quiet" }, el("bdi", {}, this.where(box))),
      el("div", {}, `${formatTime(time, 1)}, ${this.lasts(box)}`),
    );
  }
  where(box) {
    return this.view.profile.where(this.view.tree.context[box.frame]);
  }
  lasts(box) {
    return `${formatSeconds((this.view.time(box.b) - this.view.time(box.a)) / 1e6)} without a break`;
  }
  menu(e, box) {
    if (!box) return;
    e.preventDefault();
    Tip.hide();
    const { view } = this,
      context = view.tree.context[box.frame],
      from = Math.max(0, view.time(box.a)),
      found = { row: view.chosen, context, from, to: view.time(box.b) };
    openMenu(e, view.actions(found));
  }
  focus(box) {
    this.focused = box;
    this.view.paint();
    if (box) announce(`${this.view.tree.name(box.frame)}, ${this.lasts(box)}`);
  }
  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.boxes.length) return;
    const at = this.boxes.find(b => this.isFocused(b)) ?? this.boxes[0],
      near = d =>
        this.boxes.find(b => b.d === d && b.a < at.b && b.b > at.a) ??
        this.boxes.find(b => b.d === d),
      row = this.boxes.filter(b => b.d === at.d),
      i = row.indexOf(at);
    const moves = {
      ArrowDown: () => near(at.d + 1),
      ArrowUp: () => near(at.d - 1),
      ArrowLeft: () => row[i - 1],
      ArrowRight: () => row[i + 1],
    };
    if (moves[e.key]) this.focus(this.focused ? (moves[e.key]() ?? at) : at);
    else if (e.key === "Enter" || e.key.toLowerCase() === "m") {
      const { left, top } = this.canvas.getBoundingClientRect();
      const place = { clientX: left + at.a + 8, clientY: top + (at.d + 1) * STACK_ROW };
      this.menu({ ...place, preventDefault() {} }, at);
    } else return;
    e.preventDefault();
  }
}
