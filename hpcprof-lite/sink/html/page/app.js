// SPDX-License-Identifier: BSD-3-Clause
// The page: navigation, metric, selection. Views draw when they are on the screen. State has what
// the reader chose: view, m (metric), c (columns), q (search), t (time), p (rows), f (frame),
// hide (groups of functions), and keys of views, which begin with the view's name.

const VIEWS = [
  // id, title, class
  ["overview", "Overview", OverviewView],
  ["timeline", "Time lines", TimelineView],
  ["waiting", "Waiting", WaitingView],
  ["flame", "Flame graph", FlameView],
  ["tree", "Tree", TreeView],
  ["tables", "Functions", FlatView],
  ["kernels", "GPU kernels", KernelView],
  ["source", "Source", SourceView],
  ["threads", "Threads", ThreadView],
];

// The browser's theme, until the reader chooses one. Text is readable before the profile is.
const PREFERS_DARK = matchMedia("(prefers-color-scheme: dark)");
function showTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
function isDark() {
  return document.documentElement.dataset.theme === "dark";
}
showTheme(PREFERS_DARK.matches);

class App {
  constructor(profile) {
    this.profile = profile;
    this.hasTheme = false; // the reader chose one
    this.blames = new Blames(this);
    this.firstMetric = profile.mainMetric();
    this.presets = findGroups(profile);
    this.views = {};
    document.title = `${profile.str(profile.meta.title)} – hpctoolkit-lite`;
    this.state = new State(keys => this.changed(keys));
    this.search = new Search(this);
    this.readState();
    this.makeBar();
    this.makeViews();
    addEventListener("resize", () => this.redraw());
    addEventListener("keydown", e => this.key(e));
    addEventListener("beforeprint", () => showAllForPrint(this, true));
    addEventListener("afterprint", () => showAllForPrint(this, false));
    PREFERS_DARK.addEventListener("change", () => {
      if (!this.hasTheme) this.setTheme(PREFERS_DARK.matches);
    });
    this.show(this.state.get("view"));
  }

  // ---- state ----

  readState() {
    const p = this.profile,
      s = this.state,
      most = p.metrics.length;
    this.metric = s.number("m", -1);
    if (!p.metrics[this.metric] || p.isBase(this.metric)) this.metric = this.firstMetric;
    this.columns = s.get("c") ? [...parseSet(s.get("c"), most)] : this.firstColumns();
    // Groups of functions that flame graphs and time lines hide.
    const hidden = s.get("hide", this.firstHidden());
    this.groups = new Map([...this.presets].filter((_, i) => parseSet(hidden, 64).has(i)));
    p.folding = { hidden: new Set(s.get("flame.names").split("\n")), groups: this.groups };
    const [, kind, number] = s.get("f").match(/^([cn])(\d+)$/) ?? [],
      frame = kind === "n" ? { fn: +number } : { context: +number },
      isFrame = kind === "n" ? +number < p.functions.n : kind === "c" && +number < p.n;
    p.setSelection({
      time: parseRange(s.get("t")),
      profiles: s.get("p") ? parseSet(s.get("p"), p.profiles.length) : null,
      frame: isFrame ? frame : null,
    });
  }
  // Paths begin with main, Python programs read better without the interpreter, as in the text
  // report, and programs with GPUs without the driver's polling.
  firstHidden() {
    const names = [...this.presets.keys()],
      isHidden = {
        [START_FRAMES]: true,
        [UNKNOWN_FRAMES]: true,
        [INTERPRETER_FRAMES]: this.profile.meta.modules.some(m => m.python),
        [RUNTIME_FRAMES]: this.profile.isGpuRun,
      };
    return names.flatMap((n, i) => (isHidden[n] ? [i] : [])).join() || "-";
  }
  // Hides a group of functions, or shows it again.
  toggleGroup(name) {
    const names = [...this.presets.keys()],
      hidden = new Set([...this.groups.keys()].map(n => names.indexOf(n)));
    if (!hidden.delete(names.indexOf(name))) hidden.add(names.indexOf(name));
    const text = formatSet(hidden) || "-";
    this.state.set({ hide: text === this.firstHidden() ? "" : text });
  }
  // Metrics that the tables show at first: one of each kind that the run has.
  firstColumns() {
    const p = this.profile,
      list = [this.metric];
    for (const m of [
      p.metricByRole(ROLE.gpuTime),
      p.sampledMetric(),
      p.metricByRole(ROLE.samples),
    ]) {
      if (m >= 0 && p.isShown(m) && !list.includes(m)) list.push(m);
    }
    return list;
  }
  changed(keys) {
    this.readState();
    if (keys.has("m")) document.getElementById("metric").value = this.metric;
    if (keys.has("q")) this.search.read();
    if (["m", "t", "p", "f"].some(k => keys.has(k))) this.showSelection();
    this.show(this.state.get("view"));
  }
  // change: {time, profiles, frame}, as in Profile.setSelection(). more: other keys of the state.
  select(change, more = {}) {
    const keys = {},
      { frame } = change;
    if ("time" in change) keys.t = formatRange(change.time);
    if ("profiles" in change) keys.p = change.profiles ? formatSet(change.profiles) : "";
    if ("frame" in change)
      keys.f = frame ? (frame.fn === undefined ? `c${frame.context}` : `n${frame.fn}`) : "";
    this.state.set({ ...keys, ...flameKeys(more) });
  }

  // ---- the bar ----

  makeBar() {
    const p = this.profile,
      on = (id, action) => document.getElementById(id).addEventListener("click", action);
    document.getElementById("title").replaceChildren(el("bdi", {}, p.str(p.meta.title)));
    const metric = document.getElementById("metric");
    fillMetricMenu(metric, p);
    metric.value = this.metric;
    metric.addEventListener("change", () => this.setMetric(+metric.value));
    on("theme", () => {
      this.hasTheme = true;
      this.setTheme(!isDark());
    });
    on("link", () => copyText(location.href));
    on("reset", () => this.state.reset());
    on("picture", () => savePicture(this));
    on("help", () => showHelp(this));
  }
  makeViews() {
    const p = this.profile,
      tabs = document.getElementById("tabs"),
      main = document.getElementById("main");
    const isThere = {
      waiting: WaitingView.isThere(p),
      kernels: !p.isComparison && p.classes.includes(p.classNames.indexOf("kernel")),
      timeline: p.meta.hasTraces || p.hasFlow,
      source: !p.isComparison,
      threads: !p.isComparison,
    };
    for (const [id, title, View] of VIEWS) {
      if (isThere[id] === 0 || isThere[id] === false) continue;
      if (!p.metrics.length && id !== "overview") continue;
      const section = el("section", {
        id: `view-${id}`,
        class: "view",
        role: "tabpanel",
        "aria-labelledby": `tab-${id}`,
        "data-title": title,
        hidden: true,
      });
      main.append(section);
      const tab = { id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}` };
      const open = e => {
        if (e.ctrlKey || e.metaKey || e.shiftKey) return; // another window
        e.preventDefault();
        this.state.set({ view: id });
      };
      tabs.append(el("a", { href: `#${id}`, ...tab, onclick: open }, title));
      const Shown = id === "overview" && p.isComparison ? ComparisonView : View;
      this.views[id] = { section, View: Shown, view: null };
    }
    tabs.addEventListener("keydown", e => {
      const list = [...tabs.children],
        i = list.indexOf(document.activeElement);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (step && i >= 0) list[(i + step + list.length) % list.length].focus();
    });
    // The overview asks this view for kernels.
    if (this.views.kernels)
      this.views.kernels.view = new KernelView(this, this.views.kernels.section);
  }
  needsRest(id) {
    return ["timeline", "threads", "source", "kernels"].includes(id);
  }
  show(id) {
    if (!this.views[id]) id = "overview";
    if (id !== this.current) scrollTo(0, 0);
    this.current = id;
    for (const [name, v] of Object.entries(this.views)) {
      v.section.hidden = name !== id;
      const tab = document.getElementById(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === id));
      tab.tabIndex = name === id ? 0 : -1;
    }
    Tip.hide();
    this.draw(id);
    this.search.count();
  }
  draw(id) {
    const v = this.views[id];
    if (this.needsRest(id) && !this.profile.isComplete) {
      v.section.dataset.waiting = "Reading time lines…";
      return;
    }
    delete v.section.dataset.waiting;
    document.documentElement.style.setProperty("--bar-height", `${document.getElementById("main").offsetTop}px`);
    v.view ??= new v.View(this, v.section);
    v.view.draw();
  }
  redraw() {
    this.draw(this.current);
  }
  setTheme(dark) {
    showTheme(dark);
    Colours.reset();
    this.redraw();
  }
  restArrived() {
    this.profile.isComplete = true;
    this.profile.setSelection(this.profile.selection); // sums may need what has come
    this.showSelection();
    this.show(this.current);
  }

  // ---- what the reader asks for ----

  // keys: of the state; see there.
  go(view, keys = {}) {
    this.state.set({ view, ...flameKeys(keys) });
  }
  metricKeys(metric) {
    const columns = this.columns.includes(metric) ? {} : { c: formatSet([metric, ...this.columns]) };
    return { m: metric === this.firstMetric ? "" : metric, ...columns };
  }
  // Tables are sorted by the new metric.
  setMetric(metric) {
    this.state.set({ ...this.metricKeys(metric), "tables.sort": "", "tree.sort": "" });
  }
  // text: a regular expression, or plain text where it is none.
  setSearch(text, view) {
    this.state.set({ q: text, ...(view ? { view } : {}) });
  }
  showFlame(context) {
    this.go("flame", { "flame.up": "", "flame.zoom": `c${context}` });
  }
  showSource(context) {
    const p = this.profile,
      f = p.fn[context];
    const isLine = p.kind[context] === CONTEXT_LINE || p.kind[context] === CONTEXT_LOOP;
    const file = isLine ? p.file[context] : f >= 0 ? p.functions.file[f] : -1;
    const line = isLine ? p.line[context] : f >= 0 ? p.functions.line[f] : 0;
    const code = p.code.functions.findIndex(g => g.fn === f); // -1: no instructions
    if ((file < 0 && code < 0) || !this.views.source) return say("no source line is known");
    this.go("source", {
      "source.at": file < 0 ? "" : `${file}:${line}`,
      "source.code": code < 0 ? "" : code,
      "source.pc": "",
    });
  }
  showSelection() {
    const p = this.profile,
      s = p.selection,
      chips = [];
    const chip = (text, change) =>
      el(
        "button",
        {
          type: "button",
          class: "chip",
          title: "Remove this selection",
          onclick: () => this.select(change),
        },
        el("bdi", {}, text),
        " ×",
      );
    const warn = text => el("span", { class: "warn" }, text);
    if (s.time) {
      const step = (s.time[1] - s.time[0]) / 50;
      chips.push(
        chip(`${formatTime(s.time[0], step)} to ${formatTime(s.time[1], step)}`, { time: null }),
      );
    }
    if (s.profiles)
      chips.push(
        chip(
          s.profiles.size === 1
            ? p.profileName([...s.profiles][0])
            : plural(s.profiles.size, "row"),
          { profiles: null },
        ),
      );
    if (s.frame)
      chips.push(chip(`in or below ${shorten(p.frameName(s.frame))}`, { frame: null }));
    const stride = p.meta.reduced.sampleStride,
      label = p.metrics[this.metric]?.label;
    if (s.time && stride > 1)
      chips.push(warn(`one of ${stride} samples is on the time lines: the values are estimates`));
    if (s.time && p.isComplete && p.hasTime(this.metric) && p.timedShare(this.metric) < 0.999)
      chips.push(
        warn(
          `${percent(1 - p.timedShare(this.metric), 1)} of ${label} is on no time line and ` +
            "missing here",
        ),
      );
    if (s.time && !p.hasTime(this.metric))
      chips.push(warn(`${label} has no time line: its values are those of the whole run`));
    const box = document.getElementById("selection");
    box.replaceChildren(...chips);
    box.hidden = !chips.length;
    document.body.toggleAttribute("data-selected", p.isSelected);
    if (p.isSelected && p.isComplete)
      announce(`${label} of the selection: ${p.format(this.metric, p.whole(this.metric))}`);
  }
  key(e) {
    const typing = /INPUT|SELECT|TEXTAREA/.test(e.target.tagName);
    if (e.key.toLowerCase() === "z" && (e.ctrlKey || e.metaKey) && !typing) {
      e.preventDefault();
      if (e.shiftKey) this.state.redo();
      else this.state.undo();
    }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "?") showHelp(this);
    else if (e.key === "/") {
      e.preventDefault();
      document.getElementById("search").focus();
    } else if (/^[1-9]$/.test(e.key)) {
      const id = Object.keys(this.views)[e.key - 1];
      if (!id) return;
      this.go(id);
      this.views[id].section.querySelector("canvas[tabindex], .table, .code")?.focus();
    }
  }
}

async function start() {
  const state = document.getElementById("loading");
  try {
    if (!("DecompressionStream" in window))
      throw new Error("this browser cannot unpack the data; a version from 2023 or later can");
    const model = await loadModel();
    const profile = new Profile(model);
    window.app = new App(profile);
    state.remove();
    performance.mark("first-view");
    await new Promise(resolve => setTimeout(resolve)); // the first view comes first
    await loadRest(profile);
    window.app.restArrived();
    performance.mark("complete");
    document.documentElement.dataset.ready = "1";
  } catch (error) {
    state.textContent = `The report cannot be shown: ${error.message}.`;
    throw error;
  }
}
start();
