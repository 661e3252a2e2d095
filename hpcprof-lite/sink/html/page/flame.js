// SPDX-License-Identifier: BSD-3-Clause
// The flame graph: top-down (callers above callees), bottom-up (callees above callers), or callers
// and callees of one function. Keys of the state: flame.up ("1": bottom-up), flame.of (a function:
// its callers and callees), flame.zoom (contexts), flame.lines, flame.loops, flame.names (hidden),
// flame.side (of a comparison: "before", "now").

const FLAME_PAPER_ROW = 22; // pixels

// A link that names a direction or a function leaves nothing of the one before.
function flameKeys(keys) {
  if ("flame.of" in keys) return { "flame.up": "", "flame.zoom": "", ...keys };
  if ("flame.up" in keys) return { "flame.of": "", "flame.zoom": "", ...keys };
  return keys;
}

class FlameView {
  constructor(app, container) {
    this.app = app;
    this.profile = app.profile;
    this.focus = null;
    this.controls = new FlameControls(this, container);
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Flame graph. Arrow keys move between frames, Enter zooms, Escape zooms out, M opens the " +
        "menu of the frame, B shows callers and callees, C copies the path, S shows the source, " +
        "H hides frames of this name.",
    });
    this.scroller = el("div", { class: "canvas-box flame" }, el("div", {}, this.canvas));
    container.append(this.controls.crumbs, this.controls.note, this.scroller, this.controls.legend);
    this.painter = new FlamePainter(this);
    this.input = new FlameInput(this);
  }

  // ---- direction ----

  turn(kind) {
    const fn = kind === "both" ? this.functionToShow() : -1;
    if (kind === "both" && fn < 0) return announce("no function is known");
    this.focus = null;
    this.app.state.set({
      "flame.up": kind === "up" ? "1" : "",
      "flame.of": fn >= 0 ? fn : "",
      "flame.zoom": "",
    });
  }
  // That of the frame that has the focus or is zoomed, or the one with most time of its own.
  functionToShow() {
    if (this.kind === "both") return this.fn;
    for (const node of [this.focus, this.zoomed])
      if (node && this.functionOf(node) >= 0) return this.functionOf(node);
    const [most] = this.functionRows().sort((a, b) => b.self - a.self);
    return most?.fn ?? -1;
  }
  functionRows() {
    const p = this.profile,
      m = this.app.metric,
      side = p.isComparison && this.side === "before" ? p.before(m) : m;
    return groupContexts(p, GROUPINGS.Functions, [side])
      .map(g => ({ fn: p.fn[g.context], self: g.self.get(side), total: g.total.get(side) }))
      .filter(x => x.fn >= 0);
  }
  // ---- state ----

  readState() {
    const { app, profile } = this,
      s = app.state,
      options = {
        loops: s.get("flame.loops") === "1",
        lines: s.get("flame.lines", this.controls.firstLines),
        hidden: new Set(s.get("flame.names").split("\n").filter(Boolean)),
        groups: app.groups,
      },
      fn = s.number("flame.of", -1);
    this.fn = Number.isInteger(fn) && fn >= 0 && fn < profile.functions.n ? fn : -1;
    this.kind = this.fn >= 0 ? "both" : s.get("flame.up") === "1" ? "up" : "down";
    this.side = profile.isComparison ? s.get("flame.side") : "";
    if (this.isHidden(this.fn, options)) options.shown = this.fn;
    const made = JSON.stringify([options.loops, options.lines, [...options.hidden],
      [...options.groups.keys()], options.shown]);
    if (made !== this.made) this.tree = new FrameTree(profile, options);
    const summed = [made, app.metric, this.kind, this.fn, this.side, profile.isComplete,
      ...["t", "p", "f"].map(k => s.get(k))].join("\n");
    if (summed !== this.summed) this.sumUp();
    Object.assign(this, { made, summed, hidden: options.hidden });
    this.controls.set(options);
  }
  isHidden(fn, { hidden, groups }) {
    if (fn < 0) return false;
    const isIn = ([name, group]) => name !== UNKNOWN_FRAMES && group[fn]; // the first one stays
    return hidden.has(this.profile.functionName(fn)) || [...groups].some(isIn);
  }
  sumUp() {
    const { tree, app } = this;
    this.values = tree.values(app.metric, this.side);
    this.nodes = new FlameNodes(tree, this.values, this.kind, this.fn);
    this.root = this.nodes.root;
    this.focus = this.hovered = this.samples = null;
    this.judged = this.profile.isComparison ? new FrameNoise(this.profile, tree, app.metric) : null;
    this.controls.fillFunctions();
  }
  zoomedNode() {
    const [, to, list] = this.app.state.get("flame.zoom").match(/^([cud])([\d.]+)$/) ?? [],
      contexts = (list ?? "").split(".").map(Number).filter(Boolean),
      { nodes, tree } = this;
    if (!contexts.length || (to === "c") === (this.kind === "both")) return this.root;
    if (this.kind === "down")
      return nodes.find(this.root, tree.path(tree.of[contexts[0]] ?? 0).map(f => tree.context[f]));
    return nodes.find(to === "u" ? nodes.callers : this.root, contexts);
  }
  zoom(node) {
    Tip.hide();
    const path = this.nodes.path(node),
      shown = this.kind === "down" ? path.slice(-1) : path,
      to = this.kind !== "both" ? "c" : node.at ? "u" : "d";
    this.app.state.set({ "flame.zoom": shown.length ? to + shown.join(".") : "" });
    announce(this.sentence(node));
  }

  // ---- nodes ----

  nameOf(node) {
    return node.frame ? this.tree.name(node.frame) : this.profile.scopeName;
  }
  labelOf(node) {
    return node.frame ? this.tree.label(node.frame) : this.profile.scopeName;
  }
  childrenOf(node) {
    return this.nodes.childrenOf(node);
  }
  isFunction(node) {
    return !!node.frame && this.profile.kind[this.tree.context[node.frame]] === CONTEXT_FUNCTION;
  }
  functionOf(node) {
    return this.isFunction(node) ? this.profile.fn[this.tree.context[node.frame]] : -1;
  }
  isMatch(node) {
    const { search } = this.app;
    if (!search.isOn || !node.frame) return false;
    if (this.matchedBy !== search.expression) this.matched = new Map();
    this.matchedBy = search.expression;
    const name = this.nameOf(node);
    if (!this.matched.has(name)) this.matched.set(name, search.test(name));
    return this.matched.get(name);
  }
  sentence(node) {
    return `${this.nameOf(node)}, ${percent(node.value, this.nodes.whole)}`;
  }
  // Both sides of a comparison, and whether chance explains the difference.
  judge(node) {
    return (node.judgement ??= this.judged.of(this.nodes, node));
  }
  // 0: not known.
  samplesOf(node) {
    const own = this.profile.samples(this.app.metric);
    if (own) this.samples ??= this.tree.sumOf(own);
    return own ? this.nodes.sumOf(node, this.samples) : 0;
  }
  sidesOf(node) {
    const { now, before } = this.values;
    return { now: this.nodes.sumOf(node, now), before: this.nodes.sumOf(node, before) };
  }

  // ---- drawing ----

  draw() {
    if (this.canvas.closest("section").hidden) return;
    this.readState();
    this.zoomed = this.zoomedNode();
    this.boxes = this.root.value > 0 ? this.layOut() : [];
    this.scroller.hidden = !this.boxes.length;
    this.controls.draw();
    if (this.boxes.length) this.placeAndPaint();
    this.showShare();
  }
  // Boxes of a root and what is below it, `zoomed` over the whole width; {depth: from the root}.
  layBelow(root, zoomed) {
    const { nodes } = this,
      node = nodes.isBelow(zoomed, root) ? zoomed : root,
      above = [];
    for (let at = node.parent; at; at = at.parent) above.unshift(at);
    return [
      ...above.map((x, depth) => ({ node: x, x: 0, w: this.width, depth, above: true })),
      ...layFlame(nodes, node, this.width, above.length, 1),
    ];
  }
  layOut() {
    this.width = this.scroller.clientWidth;
    const down = this.layBelow(this.root, this.zoomed);
    if (this.kind !== "both") return down;
    const up = this.layBelow(this.nodes.callers, this.zoomed).slice(1),
      centre = up.reduce((d, b) => Math.max(d, b.depth), 0);
    for (const b of up) b.depth = centre - b.depth;
    for (const b of down) b.depth += centre;
    down[0].isCentre = true;
    return [...up, ...down];
  }
  placeAndPaint() {
    const top = this.scroller.getBoundingClientRect().top + scrollY,
      isPaper = document.querySelectorAll("main > .view:not([hidden])").length > 1,
      onScreen = Math.max(220, innerHeight - top - this.controls.legend.offsetHeight - 24),
      depth = this.boxes.reduce((d, b) => Math.max(d, b.depth), 0) + 1,
      room = isPaper ? depth * FLAME_PAPER_ROW : onScreen, // paper has no scroll bar
      { painter } = this;
    painter.place(this.boxes, this.width, room);
    if (this.scroller.clientWidth !== this.width) {
      this.boxes = this.layOut(); // a scroll bar came or went
      painter.place(this.boxes, this.width, room);
    }
    const centre = this.boxes.find(b => b.isCentre),
      key = `${this.summed}\n${this.app.state.get("flame.zoom")}`;
    if (key !== this.placed && centre) painter.scrollTo(centre);
    this.placed = key;
    painter.paint();
  }
  paint() {
    if (this.boxes?.length) this.painter.paint();
  }
  paintNow() {
    this.draw();
  }
  // ---- search ----

  // Frames, top-down even if they are too small to see; the others: nodes. The largest come first.
  findMatches() {
    const { nodes, tree, root } = this;
    if (!this.boxes) return [];
    if (this.kind !== "down") {
      const list = new Set([...this.boxes.filter(b => !b.above).map(b => b.node)]);
      if (this.kind === "up") for (const k of nodes.childrenOf(root)) list.add(k);
      return [...list].filter(n => this.isMatch(n)).sort((a, b) => b.value - a.value);
    }
    const found = [];
    for (let f = 1; f < tree.n; f++)
      if (this.values.total[f] > 0 && this.isMatch({ frame: f })) found.push(f);
    return found.sort((a, b) => this.values.total[b] - this.values.total[a] || a - b);
  }
  showMatch(match) {
    const { nodes, tree } = this,
      node =
        typeof match === "number"
          ? nodes.find(this.root, tree.path(match).map(f => tree.context[f]))
          : match,
      box = () => this.boxes.find(b => b.node === node);
    if (!(box()?.w >= 3)) this.zoom(this.wideEnough(node));
    this.focus = node;
    if (box()) this.painter.scrollTo(box());
    this.paint();
    announce(this.sentence(node));
  }
  // The outermost node in which a node is wide enough to see and read.
  wideEnough(node) {
    let at = node;
    while (at.parent && node.value / at.parent.value > 60 / this.width) at = at.parent;
    return at;
  }
  // The share of all paths through a frame that matches; nested matches count once.
  showShare() {
    const { app, tree } = this,
      { total } = this.values,
      inside = new Uint8Array(tree.n);
    if (!app.search.isOn) {
      this.controls.share.textContent = "";
      return;
    }
    let sum = 0,
      n = 0;
    for (let f = 1; f < tree.n; f++) {
      inside[f] = inside[tree.parent[f]];
      if (inside[f] || !total[f] || !this.isMatch({ frame: f })) continue;
      inside[f] = 1;
      sum += total[f];
      n++;
    }
    this.controls.share.textContent = n
      ? `match: ${percent(sum, total[0])} (${this.profile.format(app.metric, sum)})`
      : "no frame matches";
  }
}
