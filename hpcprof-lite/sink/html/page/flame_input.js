// SPDX-License-Identifier: BSD-3-Clause
// Pointer, keys, tooltips and the menu of a flame graph.

class FlameInput {
  constructor(view) {
    this.view = view;
    this.app = view.app;
    this.profile = view.profile;
    const { canvas, scroller } = view;
    canvas.addEventListener("mousemove", e => this.hover(e));
    canvas.addEventListener("mouseleave", () => this.leave());
    canvas.addEventListener("click", e => {
      const b = this.find(e);
      if (b) view.zoom(b.node);
    });
    canvas.addEventListener("contextmenu", e => {
      const b = this.find(e);
      if (b?.node.frame) e.preventDefault();
      if (b) this.openMenu(b.node, e.clientX, e.clientY);
    });
    canvas.addEventListener("keydown", e => this.key(e));
    scroller.addEventListener("scroll", () => {
      this.leave();
      view.paint();
    });
    addEventListener("scroll", () => this.leave(), { passive: true });
  }
  find(e) {
    const box = this.view.canvas.getBoundingClientRect();
    return this.view.painter.find(e.clientX - box.left, e.clientY - box.top);
  }
  hover(e) {
    const { view } = this,
      b = this.find(e);
    if (b !== view.hovered) {
      view.hovered = b;
      view.canvas.style.cursor = b ? "pointer" : "default";
      view.paint();
    }
    if (b) Tip.show(e, ...this.describe(b.node));
    else Tip.hide();
  }
  leave() {
    Tip.hide();
    if (!this.view.hovered) return;
    this.view.hovered = null;
    this.view.paint();
  }

  // ---- the tooltip ----

  describe(node) {
    const { view, profile: p } = this,
      c = view.tree.context[node.frame],
      rows = [el("strong", {}, el("bdi", {}, view.nameOf(node)))],
      add = (text, cls) => text && rows.push(el("div", { class: cls }, el("bdi", {}, text)));
    if (node.frame) {
      const state = view.tree.waits[node.frame],
        inlined = p.relation[c] === INLINED ? ", inlined" : "",
        isPlace = view.kind === "down" && p.where(c);
      add(`${CLASSES[p.className(c)]}${inlined}${state ? `: ${STATES[state]}` : ""}`, "quiet");
      add(isPlace ? `at ${p.where(c)}` : p.where(c));
      add(p.modulePath(p.module[c]), "quiet");
    }
    for (const text of p.isComparison ? this.changeText(node) : this.valueText(node)) add(text);
    return rows;
  }
  valueText(node) {
    const { view, profile: p } = this,
      { metric } = this.app,
      self = view.kind === "up" || !node.frame ? 0 : view.nodes.selfOf(node);
    return [
      `${p.format(metric, node.value)}, ${percent(node.value, view.nodes.whole)} of ` +
        p.metrics[metric].label,
      node.at && view.kind === "both" && node.parent
        ? `${percent(node.value, view.root.value)} of ${view.labelOf(view.root)}, called from here`
        : "",
      view.zoomed.parent && node.value < view.zoomed.value
        ? `${percent(node.value, view.zoomed.value)} of ${view.labelOf(view.zoomed)}`
        : "",
      self ? `self ${p.format(metric, self)}` : "",
      this.samplesText(node),
    ];
  }
  // With one standard deviation of their number.
  samplesText(node) {
    const { view } = this,
      n = view.samplesOf(node),
      error = 100 / Math.sqrt(n);
    return n > 0 ? `${plural(n, "sample")}, ±${error.toFixed(error < 9.95 ? 1 : 0)} %` : "";
  }
  changeText(node) {
    const { profile: p } = this,
      { metric } = this.app,
      { now, before, sd, isNoise } = this.view.judge(node);
    return [
      `now ${p.format(metric, now)}, before ${p.format(metric, before)}`,
      `${p.formatChange(metric, now, before)}, standard deviation ${p.format(metric, sd)}`,
      isNoise
        ? `noise: within ${this.view.judged.limit.toFixed(1)} standard deviations`
        : "more than noise",
    ];
  }

  // ---- the menu ----

  pathText(node) {
    const names = [];
    for (let at = node; at; at = at.parent) if (at.frame) names.unshift(this.view.nameOf(at));
    return names.join("\n");
  }
  hide(node) {
    const { view } = this,
      name = view.nameOf(node).replace(/ \[guessed\]$/, "");
    this.app.state.set({
      "flame.names": [...view.hidden, name].join("\n"),
      "flame.zoom": "",
      ...(view.functionOf(node) === view.fn ? { "flame.of": "" } : {}),
    });
  }
  // Top-down, a frame is one path. In the other directions a node has frames of many paths.
  selectOnly(node) {
    const { view } = this,
      fn = view.functionOf(node),
      isPath = view.kind === "down" || fn < 0;
    this.app.select({ frame: isPath ? { context: view.tree.context[node.frame] } : { fn } });
    announce(`every view shows only what is in or below ${view.nameOf(node)}`);
  }
  showCallers(node) {
    const fn = this.view.functionOf(node);
    if (fn >= 0) this.app.go("flame", { "flame.of": fn });
  }
  hasSource(node) {
    const p = this.profile,
      c = this.view.tree.context[node.frame];
    return !!this.app.views.source && (p.functions.file[p.fn[c]] >= 0 || p.file[c] >= 0);
  }
  openMenu(node, x, y) {
    const { view, app } = this,
      name = view.nameOf(node);
    if (!node.frame) return;
    Tip.hide();
    const what = view.kind === "down" ? "frame" : "function",
      entries = [["Zoom", () => view.zoom(node)]];
    if (view.isFunction(node))
      entries.push(["Callers and callees", () => this.showCallers(node)]);
    entries.push([`Select only this ${what}, in every view`, () => this.selectOnly(node)]);
    if (this.hasSource(node))
      entries.push(["Show source", () => app.showSource(view.tree.context[node.frame])]);
    entries.push(
      ["Copy name", () => copyText(name)],
      ["Copy path", () => copyText(this.pathText(node))],
    );
    if (view.isFunction(node))
      entries.push(
        ["Hide frames of this name", () => this.hide(node)],
        ["Find all of this name", () => app.setSearch(`^${escapeRegExp(name)}$`)],
      );
    openMenu({ clientX: x, clientY: y }, entries);
  }

  // ---- keys ----

  // Where an arrow moves to; undefined: nowhere.
  next(key, at) {
    const { rows } = this.view.painter,
      row = rows[at.depth],
      i = row.indexOf(at);
    const nearest = depth =>
      rows[depth]
        ?.filter(b => !b.above)
        .reduce((a, b) => (!a || Math.abs(b.x - at.x) < Math.abs(a.x - at.x) ? b : a), null);
    if (key === "ArrowDown") return nearest(at.depth + 1);
    if (key === "ArrowUp") return nearest(at.depth - 1);
    if (key === "ArrowRight") return row[i + 1];
    if (key === "ArrowLeft") return row[i - 1];
    return this.first();
  }
  first() {
    const { boxes } = this.view;
    return boxes.find(b => b.isCentre && !b.above) ?? boxes.find(b => !b.above);
  }
  key(e) {
    const { view } = this;
    if (!view.boxes?.length || e.ctrlKey || e.metaKey || e.altKey) return;
    const at = view.boxes.find(b => b.node === view.focus && !b.above) ?? this.first(),
      { node } = at,
      isMove = /^(Arrow|Home)/.test(e.key);
    const actions = {
      Enter: () => view.zoom(node),
      Escape: () => view.zoomed.parent && view.zoom(view.zoomed.parent),
      c: () => copyText(this.pathText(node)),
      b: () => this.showCallers(node),
      h: () => view.isFunction(node) && this.hide(node),
      s: () => node.frame && this.app.showSource(view.tree.context[node.frame]),
      m: () => this.openMenuAt(at),
    };
    actions.Backspace = actions.Escape;
    actions.ContextMenu = actions.m;
    if (isMove) this.focusOn(view.focus ? (this.next(e.key, at) ?? at) : at);
    else if (actions[e.key]) actions[e.key]();
    else return;
    e.preventDefault();
  }
  focusOn(box) {
    const { view } = this;
    view.focus = box.node;
    view.painter.scrollTo(box);
    view.paint();
    announce(view.sentence(box.node));
  }
  openMenuAt(box) {
    const { left, top } = this.view.canvas.getBoundingClientRect(),
      { painter } = this.view;
    this.openMenu(box.node, left + box.x + 8, top + painter.yOf(box) + painter.row);
  }
}

function escapeRegExp(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
function copyText(text) {
  const done = () => say("copied");
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
  say("copied");
}
// A menu at the pointer. entries: [label, action]. The focus goes back to where it was.
function openMenu(event, entries) {
  document.querySelector(".menu")?.remove();
  const menu = el("div", { class: "menu", role: "menu" }),
    before = document.activeElement;
  const close = () => {
    const hadFocus = menu.contains(document.activeElement);
    menu.remove();
    if (hadFocus) before?.focus({ preventScroll: true });
  };
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
      i = list.indexOf(document.activeElement),
      step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.key === "Escape" || e.key === "Tab") close();
    else if (step) list[(i + step + list.length) % list.length].focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  document.body.append(menu);
  menu.style.left = `${Math.max(4, Math.min(event.clientX, innerWidth - menu.offsetWidth - 8))}px`;
  menu.style.top = `${Math.max(4, Math.min(event.clientY, innerHeight - menu.offsetHeight - 8))}px`;
  menu.firstChild.focus();
  setTimeout(() => addEventListener("click", close, { once: true }));
}
