# SPDX-License-Identifier: BSD-3-Clause
#
# What report.html looks like, for browse_report.py: colours, widths, the order of tables.


def use_colours(page, checks):
    """Of each frame, state and change, in both themes. Copies of a GPU are no waits."""
    waits = page.js("""const p = app.profile, waits = [];
        for (let c = 1; c < p.n; c++)
          if (p.className(c) === "copy" && waitOf(p, c)) waits.push(p.name(c));
        return waits""")
    checks.check("colours: a copy of a GPU is no wait", not waits, waits[:3])
    for _ in range(2):
        bad = page.js("""const classes = app.profile.classNames, fills = Object.keys(STATES)
              .map(s => stateColour(s)).filter(c => c.startsWith("#"));
            for (const c of classes)
              for (let i = 0; i < 40; i++) fills.push(Colours.of(c, `f${i}`));
            for (let x = -10; x <= 10; x++) fills.push(changeColour(10 + x, 10, false));
            return fills.filter(f => !(contrastOf(Colours.inkOn(f), f) >= 4.5))""")
        checks.check("colours: text on each has a contrast of at least 4.5", not bad, bad[:3])
        same = page.js("""const look = (s, i) => {
              const e = document.body.appendChild(el("i", {class: stateClass(s, i)})),
                {backgroundColor, backgroundImage} = getComputedStyle(e);
              e.remove();
              return backgroundColor + backgroundImage;
            };
            const looks = ["openmp", "mpi"].flatMap(s => [0, 1, 2, 3, 4, 5].map(i => look(s, i)));
            return looks.length - new Set(looks).size""")
        checks.check("colours: the states of OpenMP and MPI differ", same == 0, same)
        page.click("#theme")


def use_window(page, checks):
    """Views begin at their start, and are as wide as each other."""
    page.show("overview")
    width = "return document.getElementById('main').offsetWidth"
    page.js("document.body.style.minHeight = '4000px'; scrollTo(0, 900)")
    long = page.js(width)
    page.show("tables")
    at = page.js("return scrollY")
    page.js("document.body.style.minHeight = ''")
    short = page.js(width)
    checks.check("window: a view begins at its start", at == 0, at)
    checks.check("window: a view is as wide as the one before", long == short, [long, short])
    for view in ("tables", "tree", "source"):
        if view in page.views():
            page.show(view)
            over = page.js("return document.documentElement.scrollHeight - innerHeight")
            checks.check(f"window: {view} fills it, with one scroll bar", over <= 0, over)


def use_wheel(page, checks):
    """The wheel scrolls; with Ctrl it zooms. "Whole run" ends the selection, too."""
    if "timeline" not in page.views():
        return
    page.show("timeline")
    turn = """const v = app.views.timeline.view, size = () => v.to - v.from, before = size(),
          e = new WheelEvent("wheel", {deltaY: -100, ctrlKey: arguments[0], cancelable: true});
        v.canvas.dispatchEvent(e);
        return [e.defaultPrevented, size() < before]"""
    turned = page.js(turn, False), page.js(turn, True)
    checks.check("time lines: the wheel zooms with Ctrl alone",
                 turned == ([False, False], [True, True]), turned)
    page.select({"time": [0, page.js("return app.views.timeline.view.span") / 2]})
    page.js("""[...document.querySelectorAll('#view-timeline button')]
        .find(b => b.textContent === 'Whole run').click()""")
    checks.check("time lines: the whole run is shown and selected",
                 page.js("const v = app.views.timeline.view; return v.to - v.from >= v.span && "
                         "app.profile.selection.time === null"))
    page.js("app.state.reset()")


def use_sorting(page, checks):
    """Tables are sorted by a metric that becomes the one in the bar."""
    other = page.js("return app.profile.metrics.findIndex((m, i) => app.profile.isShown(i) && "
                    "i !== app.metric && m.kind !== METRIC_GPU_MEAN)")
    if other < 0:
        return
    page.show("tables")
    page.js("const t = app.views.tables.view.table; t.sortBy(t.columns.find(c => c.value))")
    page.js("app.setMetric(arguments[0])", other)
    for view, word in (("tables", "self"), ("tree", "total")):
        page.show(view)
        column = page.js("return app.views[app.current].view.table.sorting.column.id")
        checks.check(f"{view}: sorted by the new metric",
                     column.rstrip("+") == f"{word}{other}", f"{column} {other}")
    page.js("app.state.reset()")


def use_columns(page, checks):
    """Columns that fit, and none for shares of samples that place GPU time."""
    size = page.browser.get_window_size()
    page.show("kernels")
    page.browser.set_window_size(1024, size["height"])
    page.js("app.redraw()")
    over = page.js("const {box} = app.views.kernels.view.table; return box.scrollWidth - "
                   "box.clientWidth")
    page.browser.set_window_size(size["width"], size["height"])
    checks.check("kernels: all columns fit into 1024 pixels", over <= 0, over)
    page.show("source")
    heads = page.js("return [...document.querySelectorAll('#view-source .code th')]"
                    ".map(h => h.innerText)")
    labels = page.js("return [ROLE.gpuTime, ROLE.samples].map(r => "
                     "app.profile.metrics[app.profile.metricByRole(r)]?.label)")
    if all(label in heads for label in labels):
        checks.check("source: samples of GPU time have one column",
                     heads[heads.index(labels[1]) + 1] != "%" and
                     f"{labels[1]} total" not in heads, heads)
