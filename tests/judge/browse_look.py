# SPDX-License-Identifier: BSD-3-Clause
#
# What report.html looks like, for browse_report.py: colours, widths, the order of tables.


def use_colours(page, checks):
    """Of each frame, state and change, in both themes."""
    for _ in range(2):
        bad = page.js("""const classes = app.profile.classNames, fills = Object.keys(STATES)
              .map(s => stateColour(s)).filter(c => c.startsWith("#"));
            for (const c of classes) for (let i = 0; i < 40; i++) fills.push(Colours.of(c, `f${i}`));
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
    """Samples that place GPU time have the same shares, and no columns for them."""
    page.show("source")
    heads = page.js("return [...document.querySelectorAll('#view-source .code th')]"
                    ".map(h => h.innerText)")
    labels = page.js("return [ROLE.gpuTime, ROLE.samples].map(r => "
                     "app.profile.metrics[app.profile.metricByRole(r)]?.label)")
    if all(label in heads for label in labels):
        checks.check("source: samples of GPU time have one column",
                     heads[heads.index(labels[1]) + 1] != "%" and
                     f"{labels[1]} total" not in heads, heads)
