// SPDX-License-Identifier: BSD-3-Clause
// The flame graph, top-down (callers above callees) and bottom-up (callees above callers).

const FLAME_ROW = 19,
  FLAME_LEVELS = 800;

class FlameView {
  constructor(app, container) {
    this.app = app;
    this.profile = app.profile;
    this.focus = null;
    this.makeControls(container);
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-label":
        "Flame graph. Arrow keys move between frames, Enter zooms, Escape zooms out, " +
        "C copies the " +
        "path, S shows the source, H hides frames of this name.",
    });
    this.scroller = el("div", { class: "canvas-box" }, this.canvas);
    container.append(this.crumbs, this.scroller, this.legend());
    this.canvas.addEventListener("mousemove", e => this.hover(e));
    this.canvas.addEventListener("mouseleave", () => {
      Tip.hide();
      this.setHover(null);
    });
    this.canvas.addEventListener("click", e => {
      const b = this.find(e);
      if (b) this.zoom(b.node);
    });
    this.canvas.addEventListener("contextmenu", e => this.openMenu(e));
    this.canvas.addEventListener("keydown", e => this.key(e));
  }
  makeControls(container) {
    const hasGpu = this.profile.meta.modules.some(m => m.gpu);
    this.firstLines = hasGpu ? "gpu" : "none";
    const set = (key, first) => text => this.app.state.set({ [key]: text === first ? "" : text });
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
      onchange: e => this.app.state.set({ "flame.loops": e.target.checked ? "1" : "" }),
    });
    const direction = el("div", { class: "segments", role: "group", "aria-label": "Direction" });
    this.direction = direction;
    for (const [label, up] of [
      ["Top-down", false],
      ["Bottom-up", true],
    ])
      direction.append(
        el(
          "button",
          {
            type: "button",
            onclick: () =>
              this.app.state.set({ "flame.up": up ? "1" : "", "flame.zoom": "" }),
          },
          label,
        ),
      );
    this.crumbs = el("div", { class: "crumbs" });
    this.hiddenList = el("div", { class: "chips" });
    const presets = el(
      "select",
      {
        "aria-label": "Hide frames",
        onchange: e => {
          const name = e.target.value;
          e.target.selectedIndex = 0;
          if (!this.app.groups.has(name)) this.app.toggleGroup(name);
        },
      },
      el("option", { value: "" }, "Hide…"),
    );
    for (const name of this.app.presets.keys()) presets.append(el("option", {}, name));
    this.share = el("span", { class: "share" });
    container.append(
      el(
        "div",
        { class: "controls" },
        direction,
        this.lines,
        el("label", { title: "Show loops as frames" }, this.loops, "loops"),
        this.app.presets.size ? presets : null,
        this.hiddenList,
        this.share,
      ),
    );
  }
  legend() {
    const present = new Set(this.profile.classes);
    const list = el("div", { class: "legend", "aria-label": "Colours" });
    if (this.profile.isComparison) {
      list.append(
        el("span", {}, el("i", { class: "swatch more" }), "more than before"),
        el("span", {}, el("i", { class: "swatch less" }), "less than before"),
        el("span", {}, "widths are the mean of both sides"),
      );
      return list;
    }
    this.profile.classNames.forEach((name, i) => {
      if (present.has(i) && name !== "entry")
        list.append(el("span", {}, el("i", { class: `swatch frame-${name}` }), CLASSES[name]));
    });
    return list;
  }

  // ---- nodes: {frame, value, self, depth, parent, list} ----

  // The tree of frames for the options of the state.
  readState() {
    const s = this.app.state,
      options = {
        loops: s.get("flame.loops") === "1",
        lines: s.get("flame.lines", this.firstLines),
        hidden: new Set(s.get("flame.names").split("\n").filter(Boolean)),
        groups: this.app.groups,
      };
    this.bottomUp = s.get("flame.up") === "1";
    const made = [options.loops, options.lines, ...options.hidden, 0, ...options.groups.keys()].join("\n");
    if (made !== this.made) this.tree = new FrameTree(this.profile, options);
    this.made = made;
    this.hidden = options.hidden;
    this.lines.value = options.lines;
    this.loops.checked = options.loops;
    [...this.direction.children].forEach((b, i) =>
      b.setAttribute("aria-pressed", String(!!i === this.bottomUp)),
    );
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
    const showName = name =>
      this.app.state.set({ "flame.names": [...this.hidden].filter(n => n !== name).join("\n") });
    this.hiddenList.replaceChildren(
      ...[...this.app.groups.keys()].map(n => chip(n, () => this.app.toggleGroup(n))),
      ...[...this.hidden].map(n => chip(n, () => showName(n))),
    );
  }
  nameOf(node) {
    return node.frame ? this.tree.name(node.frame) : "whole run";
  }
  labelOf(node) {
    return node.frame ? this.tree.label(node.frame) : "whole run";
  }
  childrenOf(node) {
    if (node.children) return node.children;
    const { self, total } = this.values;
    let kids;
    if (!this.bottomUp) {
      kids = [...this.tree.children(node.frame)]
        .filter(f => total[f] > 0)
        .map(f => ({ frame: f, value: total[f], self: self[f], parent: node }));
    } else {
      kids = this.callersOf(node);
    }
    return (node.children = kids.sort((a, b) => b.value - a.value || a.frame - b.frame));
  }
  // Groups by name: the frames with values of their own at the root, their callers below it.
  callersOf(node) {
    const groups = new Map(),
      { self, nowSelf, beforeSelf } = this.values;
    const add = (frame, weight, now, before) => {
      const key = this.keyAt(frame);
      let g = groups.get(key);
      if (!g) {
        g = { frame, value: 0, self: 0, parent: node, list: [], sides: { now: 0, before: 0 } };
        groups.set(key, g);
      }
      g.value += weight;
      g.sides.now += now;
      g.sides.before += before;
      g.list.push([frame, weight, now, before]);
    };
    if (!node.list) {
      for (let f = 1; f < self.length; f++)
        if (self[f] > 0) add(f, self[f], nowSelf?.[f] ?? 0, beforeSelf?.[f] ?? 0);
    } else {
      for (const [frame, weight, now, before] of node.list) {
        const up = this.tree.parent[frame];
        if (up) add(up, weight, now, before);
        else node.self += weight;
      }
    }
    return [...groups.values()];
  }
  // What makes frames the same: a function, called or inlined if top-down; else the name.
  keyAt(frame) {
    const p = this.profile,
      c = this.tree.context[frame];
    if (p.kind[c] !== CONTEXT_FUNCTION) return p.name(c);
    return this.bottomUp ? p.fn[c] : `${p.fn[c]} ${p.relation[c] === INLINED}`;
  }
  // The state has the context of the zoomed frame; bottom-up, those of the frames down to it.
  zoomedNode() {
    const contexts = this.app.state.get("flame.zoom").replace(/^c/, "").split(".").map(Number),
      frames = contexts.map(c => this.tree.of[c]).filter(Boolean),
      keys = (this.bottomUp ? frames : this.tree.path(frames[0] ?? 0)).map(f => this.keyAt(f));
    let node = this.root;
    for (const key of keys) {
      const next = this.childrenOf(node).find(k => this.keyAt(k.frame) === key);
      if (!next) break;
      node = next;
    }
    return node;
  }
  zoom(node) {
    const contexts = [];
    for (let at = node; at.parent; at = at.parent) contexts.unshift(this.tree.context[at.frame]);
    const shown = this.bottomUp ? contexts : contexts.slice(-1);
    this.focus = null;
    this.app.state.set({ "flame.zoom": shown.length ? `c${shown.join(".")}` : "" });
    announce(`${this.nameOf(node)}, ${percent(node.value, this.root.value)}`);
  }

  // ---- drawing ----

  draw() {
    if (this.scroller.clientWidth === 0) return;
    const metric = this.app.metric;
    this.readState();
    this.values = this.tree.values(metric);
    this.root = { frame: 0, value: this.values.total[0], self: this.values.self[0], parent: null };
    const zoomed = this.zoomedNode();
    this.drawCrumbs(zoomed);
    this.drawHidden();
    this.width = this.scroller.clientWidth;
    this.boxes = [];
    const above = [];
    for (let at = zoomed.parent; at; at = at.parent) above.unshift(at);
    above.forEach((node, depth) =>
      this.boxes.push({ node, x: 0, w: this.width, depth, above: true }),
    );
    const visit = (node, x, w, depth) => {
      this.boxes.push({ node, x, w, depth });
      if (depth === FLAME_LEVELS) return; // a canvas cannot be higher; zooming shows the rest
      for (const kid of this.childrenOf(node)) {
        const width = (w * kid.value) / node.value;
        if (width < 0.6) break; // the others are smaller
        visit(kid, x, width, depth + 1);
        x += width;
      }
    };
    if (zoomed.value > 0) visit(zoomed, 0, this.width, above.length);
    this.height = (this.boxes.reduce((d, b) => Math.max(d, b.depth), 0) + 1) * FLAME_ROW + 2;
    this.paint();
    this.showShare(metric);
  }
  paintNow() {
    this.draw();
  }
  drawCrumbs(zoomed) {
    const parts = [];
    for (let at = zoomed; at; at = at.parent) {
      const node = at;
      parts.unshift(
        el(
          "button",
          { type: "button", onclick: () => this.zoom(node) },
          el("bdi", {}, this.nameOf(node)),
        ),
      );
    }
    this.crumbs.replaceChildren(...(parts.length > 1 ? parts.slice(-8) : []));
    this.crumbs.hidden = parts.length < 2;
  }
  matches(node) {
    return this.app.search.test(this.nameOf(node));
  }
  paint() {
    const g = prepareCanvas(this.canvas, this.width, this.height);
    const dim = cssColour("dim"),
      ink = cssColour("frame-ink"),
      mark = cssColour("match");
    const line = cssColour("surface"),
      focus = cssColour("accent");
    for (const b of this.boxes) {
      const { node } = b,
        y = b.depth * FLAME_ROW,
        name = this.nameOf(node);
      const cls = node.frame ? this.profile.className(this.tree.context[node.frame]) : "entry";
      const isMatch = this.matches(node),
        faded = b.above || (this.app.search.isOn && !isMatch);
      g.fillStyle = isMatch ? mark : this.colourOf(node, cls, name);
      g.globalAlpha = faded ? 0.38 : 1;
      g.fillRect(b.x, y, Math.max(0.6, b.w - (b.w > 3 ? 1 : 0)), FLAME_ROW - 1);
      if (cls === "guessed" && b.w > 6) {
        g.strokeStyle = dim;
        g.setLineDash([3, 3]);
        g.strokeRect(b.x + 0.5, y + 0.5, b.w - 2, FLAME_ROW - 2);
        g.setLineDash([]);
      }
      g.globalAlpha = faded ? 0.75 : 1;
      if (b.w > 28) {
        g.fillStyle = faded ? cssColour("text") : ink;
        drawText(g, this.labelOf(node), b.x + 4, y + FLAME_ROW / 2, b.w - 9);
      }
      g.globalAlpha = 1;
      if (node === this.focus || b === this.hovered) {
        g.strokeStyle = node === this.focus ? focus : line;
        g.lineWidth = 2;
        g.strokeRect(b.x + 1, y + 1, Math.max(1, b.w - 3), FLAME_ROW - 3);
        g.lineWidth = 1;
      }
    }
  }
  colourOf(node, cls, name) {
    if (!this.profile.isComparison) return Colours.of(cls, name);
    const { now, before } = this.sidesOf(node);
    return changeColour(now, before);
  }
  // Both sides of a comparison. Bottom-up, a node has the own values of several frames.
  sidesOf(node) {
    const { now, before } = this.values;
    return node.list ? node.sides : { now: now[node.frame], before: before[node.frame] };
  }
  findMatches() {
    return this.boxes.filter(b => !b.above && this.matches(b.node));
  }
  showMatch(box) {
    this.focus = box.node;
    this.paint();
    this.canvas.scrollIntoView({ block: "nearest" });
    scrollBy({ top: this.canvas.getBoundingClientRect().top + box.depth * FLAME_ROW - innerHeight / 2 });
    announce(`${this.nameOf(box.node)}, ${percent(box.node.value, this.root.value)}`);
  }
  // The share of all paths through a frame that matches; nested matches count once.
  showShare(metric) {
    if (!this.app.search.isOn) {
      this.share.textContent = "";
      return;
    }
    const { total } = this.values,
      inside = new Uint8Array(this.tree.n);
    let sum = 0,
      n = 0;
    for (let f = 1; f < this.tree.n; f++) {
      inside[f] = inside[this.tree.parent[f]];
      if (inside[f] || !total[f] || !this.app.search.test(this.tree.name(f))) continue;
      inside[f] = 1;
      sum += total[f];
      n++;
    }
    this.share.textContent = n
      ? `match: ${percent(sum, total[0])} (${this.profile.format(metric, sum)})`
      : "no frame matches";
  }

  // ---- input ----

  find(e) {
    const box = this.canvas.getBoundingClientRect(),
      x = e.clientX - box.left;
    const depth = Math.floor((e.clientY - box.top) / FLAME_ROW);
    return this.boxes?.find(b => b.depth === depth && x >= b.x && x < b.x + Math.max(b.w, 1));
  }
  setHover(b) {
    if (b === this.hovered) return;
    this.hovered = b;
    this.canvas.style.cursor = b ? "pointer" : "default";
    if (this.boxes) this.paint();
  }
  hover(e) {
    const b = this.find(e);
    this.setHover(b);
    if (b) Tip.show(e, ...this.describe(b.node));
    else Tip.hide();
  }
  describe(node) {
    const p = this.profile,
      c = this.tree.context[node.frame],
      metric = this.app.metric;
    const rows = [el("strong", {}, el("bdi", {}, this.nameOf(node)))];
    if (node.frame) {
      const cls = CLASSES[p.className(c)],
        inlined = p.relation[c] === INLINED ? ", inlined" : "";
      rows.push(el("div", { class: "quiet" }, `${cls}${inlined}`));
      if (p.where(c))
        rows.push(el("div", {}, this.bottomUp ? "" : "at ", el("bdi", {}, p.where(c))));
      if (p.module[c] >= 0)
        rows.push(el("div", { class: "quiet" }, el("bdi", {}, p.modulePath(p.module[c]))));
    }
    if (p.isComparison) {
      const { now, before } = this.sidesOf(node);
      rows.push(
        el("div", {}, `now ${p.format(metric, now)}, before ${p.format(metric, before)}`),
        el("div", {}, p.formatChange(metric, now, before)),
      );
      return rows;
    }
    rows.push(
      el(
        "div",
        {},
        `${p.format(metric, node.value)}, ${percent(node.value, this.root.value)} of ` +
          `${p.metrics[metric].label}`,
      ),
    );
    if (!this.bottomUp && node.frame && node.self)
      rows.push(el("div", {}, `${p.format(metric, node.self)} in itself`));
    return rows;
  }
  pathText(node) {
    const names = [];
    for (let at = node; at.parent; at = at.parent) names.unshift(this.nameOf(at));
    return names.join("\n");
  }
  isFunction(node) {
    return node.frame && this.profile.kind[this.tree.context[node.frame]] === CONTEXT_FUNCTION;
  }
  hide(node) {
    const names = [...this.hidden, this.nameOf(node).replace(/ \[guessed\]$/, "")];
    this.app.state.set({ "flame.names": names.join("\n"), "flame.zoom": "" });
  }
  openMenu(e) {
    const b = this.find(e);
    if (!b || !b.node.frame) return;
    e.preventDefault();
    Tip.hide();
    const c = this.tree.context[b.node.frame];
    const entries = [
      ["Zoom", () => this.zoom(b.node)],
      ["Copy path", () => copyText(this.pathText(b.node))],
    ];
    if (this.isFunction(b.node)) {
      entries.push(
        ["Hide frames of this name", () => this.hide(b.node)],
        [
          "Find all of this name",
          () => this.app.setSearch(`^${escapeRegExp(this.nameOf(b.node))}$`),
        ],
      );
    }
    const hasFile =
      this.profile.functions.file[this.profile.fn[c]] >= 0 || this.profile.file[c] >= 0;
    if (hasFile && this.app.views.source)
      entries.push(["Show source", () => this.app.showSource(c)]);
    openMenu(e, entries);
  }
  key(e) {
    if (!this.boxes?.length || e.ctrlKey || e.metaKey || e.altKey) return;
    const shown = this.boxes.filter(b => !b.above);
    let at = shown.find(b => b.node === this.focus) ?? shown[0];
    const near = (depth, x) =>
      shown.filter(b => b.depth === depth).sort((a, b) => Math.abs(a.x - x) - Math.abs(b.x - x))[0];
    const row = shown.filter(b => b.depth === at.depth),
      i = row.indexOf(at);
    const moves = {
      ArrowDown: () => near(at.depth + 1, at.x),
      ArrowUp: () => near(at.depth - 1, at.x),
      ArrowRight: () => row[i + 1],
      ArrowLeft: () => row[i - 1],
      Home: () => shown[0],
    };
    if (moves[e.key]) at = this.focus ? (moves[e.key]() ?? at) : at;
    else if (e.key === "Enter") this.zoom(at.node);
    else if (e.key === "Escape" || e.key === "Backspace") {
      const zoomed = this.zoomedNode();
      if (zoomed.parent) this.zoom(zoomed.parent);
    } else if (e.key === "c") copyText(this.pathText(at.node));
    else if (e.key === "h" && this.isFunction(at.node)) this.hide(at.node);
    else if (e.key === "s" && at.node.frame) this.app.showSource(this.tree.context[at.node.frame]);
    else return;
    e.preventDefault();
    if (moves[e.key]) {
      this.focus = at.node;
      this.paint();
      announce(`${this.nameOf(at.node)}, ${percent(at.node.value, this.root.value)}`);
    }
  }
}

function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
function copyText(text) {
  const done = () => announce("copied");
  if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => copyByHand(text));
  else copyByHand(text);
}
function copyByHand(text) {
  // pages from disk may not use the clipboard
  const area = el("textarea", { class: "offscreen" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  announce("copied");
}
// A menu at the pointer. entries: [label, action].
function openMenu(event, entries) {
  document.querySelector(".menu")?.remove();
  const menu = el("div", { class: "menu", role: "menu" });
  const close = () => menu.remove();
  for (const [label, action] of entries)
    menu.append(
      el(
        "button",
        {
          type: "button",
          role: "menuitem",
          onclick: () => {
            close();
            action();
          },
        },
        label,
      ),
    );
  menu.addEventListener("keydown", e => {
    const list = [...menu.children],
      i = list.indexOf(document.activeElement);
    if (e.key === "Escape") close();
    else if (e.key === "ArrowDown") list[(i + 1) % list.length].focus();
    else if (e.key === "ArrowUp") list[(i + list.length - 1) % list.length].focus();
  });
  document.body.append(menu);
  menu.style.left = `${Math.min(event.clientX, innerWidth - menu.offsetWidth - 8)}px`;
  menu.style.top = `${Math.min(event.clientY, innerHeight - menu.offsetHeight - 8)}px`;
  menu.firstChild.focus();
  setTimeout(() => addEventListener("click", close, { once: true }));
}
