// SPDX-License-Identifier: BSD-3-Clause
// The page: navigation, metric, search, selection. Views draw when they are on the screen.

const VIEWS = [
  // id, title, class, whether it needs threads and time lines
  ["overview", "Overview", OverviewView],
  ["waiting", "Waiting", WaitingView],
  ["flame", "Flame graph", FlameView],
  ["tree", "Tree", TreeView],
  ["tables", "Functions", FlatView],
  ["timeline", "Time lines", TimelineView],
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
    this.metric = profile.mainMetric();
    this.columns = this.firstColumns();
    this.search = null;
    // Groups of functions that flame graphs and time lines hide. Python programs read better
    // without the interpreter, as in the text report.
    this.groups = new Map();
    const interpreter = findGroups(profile).get(INTERPRETER_FRAMES);
    if (interpreter && profile.meta.modules.some(m => m.python))
      this.groups.set(INTERPRETER_FRAMES, interpreter);
    this.views = {};
    document.title = `${profile.str(profile.meta.title)} – hpctoolkit-lite`;
    this.makeBar();
    this.makeViews();
    profile.onChange(() => {
      this.showSelection();
      this.redraw();
    });
    addEventListener("resize", () => this.redraw());
    addEventListener("hashchange", () => this.show(location.hash.slice(1)));
    addEventListener("keydown", e => this.key(e));
    PREFERS_DARK.addEventListener("change", () => {
      if (!this.hasTheme) this.setTheme(PREFERS_DARK.matches);
    });
    this.show(location.hash.slice(1) || "overview");
  }
  // Metrics that the tables show at first: one of each kind that the run has.
  firstColumns() {
    const p = this.profile,
      list = [this.metric];
    for (const role of [ROLE.gpuTime, ROLE.samples]) {
      const m = p.metricByRole(role);
      if (m >= 0 && p.isShown(m) && !list.includes(m)) list.push(m);
    }
    return list;
  }
  makeBar() {
    const p = this.profile;
    document.getElementById("title").replaceChildren(el("bdi", {}, p.str(p.meta.title)));
    const metric = document.getElementById("metric");
    p.metrics.forEach((m, i) => {
      if (p.isShown(i) && m.kind !== METRIC_GPU_MEAN)
        metric.append(el("option", { value: i, title: p.str(m.description) }, m.label));
    });
    metric.value = this.metric;
    metric.addEventListener("change", () => this.setMetric(+metric.value));
    const search = document.getElementById("search");
    search.addEventListener("input", () => this.setSearch(search.value, null, true));
    document.getElementById("theme").addEventListener("click", () => {
      this.hasTheme = true;
      this.setTheme(!isDark());
    });
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
        hidden: true,
      });
      main.append(section);
      tabs.append(
        el(
          "a",
          { href: `#${id}`, id: `tab-${id}`, role: "tab", "aria-controls": `view-${id}` },
          title,
        ),
      );
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
    this.current = id;
    if (location.hash.slice(1) !== id) history.replaceState(null, "", `#${id}`);
    for (const [name, v] of Object.entries(this.views)) {
      v.section.hidden = name !== id;
      const tab = document.getElementById(`tab-${name}`);
      tab.setAttribute("aria-selected", String(name === id));
      tab.tabIndex = name === id ? 0 : -1;
    }
    this.draw(id);
  }
  draw(id) {
    const v = this.views[id];
    if (this.needsRest(id) && !this.profile.isComplete) {
      v.section.dataset.waiting = "Reading time lines…";
      return;
    }
    delete v.section.dataset.waiting;
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
    this.showSelection();
    this.redraw();
  }

  // ---- what the user asks for ----

  setMetric(metric) {
    this.metric = metric;
    document.getElementById("metric").value = metric;
    if (!this.columns.includes(metric)) this.columns = [metric, ...this.columns];
    this.showSelection();
    this.redraw();
  }
  // text: a regular expression, or plain text where it is none. typed: the field has it already.
  setSearch(text, view, typed) {
    if (!typed) document.getElementById("search").value = text;
    try {
      this.search = text ? new RegExp(text, "i") : null;
    } catch {
      this.search = new RegExp(escapeRegExp(text), "i");
    }
    if (view) this.show(view);
    else this.redraw();
  }
  showFlame(context) {
    this.show("flame");
    this.views.flame.view.showContext(context);
  }
  showSource(context) {
    const p = this.profile,
      f = p.fn[context];
    const isLine = p.kind[context] === CONTEXT_LINE || p.kind[context] === CONTEXT_LOOP;
    const file = isLine ? p.file[context] : f >= 0 ? p.functions.file[f] : -1;
    const line = isLine ? p.line[context] : f >= 0 ? p.functions.line[f] : 0;
    if (file < 0 || !this.views.source) return announce("no source line is known");
    this.show("source");
    this.views.source.view?.show(file, line);
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
          onclick: () => p.select(change),
        },
        el("bdi", {}, text),
        " ×",
      );
    if (s.time)
      chips.push(
        chip(
          `${formatTime(s.time[0], (s.time[1] - s.time[0]) / 50)} to ` +
            formatTime(s.time[1], (s.time[1] - s.time[0]) / 50),
          { time: null },
        ),
      );
    if (s.profiles)
      chips.push(
        chip(
          s.profiles.size === 1
            ? p.profileName([...s.profiles][0])
            : plural(s.profiles.size, "row"),
          { profiles: null },
        ),
      );
    const stride = p.meta.reduced.sampleStride;
    if (s.time && stride > 1)
      chips.push(
        el(
          "span",
          { class: "warn" },
          `one of ${stride} samples is on the time lines: the values are estimates`,
        ),
      );
    if (s.time && p.hasTime(this.metric) && p.timedShare(this.metric) < 0.999)
      chips.push(
        el(
          "span",
          { class: "warn" },
          `${percent(1 - p.timedShare(this.metric), 1)} of ${p.metrics[this.metric].label} is on ` +
            "no time line and missing here",
        ),
      );
    if (s.time && !p.hasTime(this.metric))
      chips.push(
        el(
          "span",
          { class: "warn" },
          `${p.metrics[this.metric].label} has no time line: its values are those of the whole run`,
        ),
      );
    const box = document.getElementById("selection");
    box.replaceChildren(...chips);
    box.hidden = !chips.length;
    if (p.isSelected)
      announce(
        `${p.metrics[this.metric].label} of the selection: ` +
          p.format(this.metric, p.whole(this.metric)),
      );
  }
  key(e) {
    const typing = /INPUT|SELECT|TEXTAREA/.test(e.target.tagName);
    if (e.key === "/" && !typing) {
      e.preventDefault();
      document.getElementById("search").focus();
    } else if (e.key === "Escape" && e.target.id === "search") {
      this.setSearch("");
      e.target.blur();
    } else if (!typing && !e.ctrlKey && !e.metaKey && !e.altKey && /^[1-9]$/.test(e.key)) {
      const id = Object.keys(this.views)[e.key - 1];
      if (id) this.show(id);
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
