# SPDX-License-Identifier: BSD-3-Clause
#
# Checks that the views of report.html say the same of one thing, for browse_report.py. Each takes
# its Page and Checks.


def use_placed(page, checks):
    """GPU time of a kernel with samples is where they are, whatever is selected."""
    got = page.js("""const p = app.profile, m = p.metricByRole(ROLE.kernelTime),
          samples = p.metricByRole(ROLE.samples), before = p.self(m),
          k = p.classes.findIndex((_, c) => samples >= 0 && p.isKernel(c) && p.total(samples)[c]);
        if (m < 0 || samples < 0 || k < 0) return [true, true];
        app.select({frame: {context: k}});
        const same = [...p.self(m)].every((v, c) => !v || Math.abs(v - before[c]) <= 1e-9 * v),
          isPlaced = before.some((v, c) => v > 0 && c > k && c < k + p.subtree[k]);
        app.select({frame: null});
        return [same, isPlaced]""")
    checks.check("agree: own GPU time is at the samples, with and without a selection",
                 got == [True, True], got)


def use_scope(page, checks):
    """With a selection, what ignores it says so, and the root is not called the whole run."""
    if page.js("return app.profile.isComparison || !app.profile.meta.hasTraces"):
        return
    places = {"overview": "#view-overview .lead", "threads": "#view-threads p"}

    def marks():
        out = []
        for view, place in places.items():
            page.js("app.go(arguments[0])", view)
            out.append(page.js("return getComputedStyle(document.querySelector(arguments[0]), "
                               "'::after').content", place))
        page.js("app.go('flame')")
        out.append(page.js("const v = app.views.flame.view; return v.nameOf(v.root)"))
        return out
    got = [marks()]
    page.js("app.select({time: [0, app.profile.meta.span * 0.9]})")
    got.append(marks())
    page.show("overview")
    heads = page.js("""return [...document.querySelectorAll('#view-overview th')].map(
        x => x.textContent).filter(x => /^(Threads|GPU: samples)/.test(x))""")
    checks.check("agree: metrics without time lines say so",
                 all(head.endswith("(of the whole run)") for head in heads), heads)
    page.js("app.select({time: null})")
    wanted = [["none", "none", "whole run"], ['"whole run"', '"whole run"', "selection"]]
    checks.check("agree: what is of the whole run, and what of the selection", got == wanted, got)


def use_cause(page, checks):
    """A wait at a barrier without a processor has its state and its cause."""
    got = page.js("""const names = ["", "GOMP_barrier", "<ready, no processor>"],
          p = {str: x => x, activity: [0, 0, 0], isBlocked: c => c === 2, name: c => names[c],
            meta: {activities: [{state: "openmp", name: "OpenMP: waited at barriers"}]}},
          words = context => TimelineFinder.prototype.words.call(
            {profile: p, frameContext: c => c},
            {state: "openmp", row: {kind: "thread"}, context, time: 0, from: 0, to: 9}, 9);
        return [words(1), words(2)]""")
    checks.check("agree: a state and its cause", "OpenMP: waited at barriers" in got[1][0] and
                 got[1][-1] == "the thread was ready, no processor" and len(got[0]) == 2, got)


def use_files(page, checks):
    """Files of source without values of their own are ranked by what they call, and say so."""
    if "source" not in page.views():
        return
    page.js("app.go('source')")
    shown = page.js("""const list = document.querySelectorAll('#view-source .file-list button');
        return [...list].map(b => b.querySelector('span').textContent)""")
    own = [not text.startswith("total") for text in shown]
    checks.check("agree: files by their own values, then by totals",
                 own == sorted(own, reverse=True) and "0.0 %" not in shown, shown)
    got = page.js("""const row = (own, all) => ({self: [own], total: [all]});
        return [bareBlocks(new Map([[61], [63], [62], [70]])).map(b => [b.first, b.lines.length]),
          hottestLine(new Map([[3, row(0, 2)], [4, row(0, 5)]]), 0),
          hottestLine(new Map([[3, row(1, 2)], [4, row(0, 5)]]), 0)];""")
    checks.check("agree: lines that follow each other, and the hottest line",
                 got == [[[61, 3], [70, 1]], 4, 3], got)


def use_idle_link(page, checks):
    """The sentence about idle GPUs leads to the reasons."""
    page.show("overview")
    link = "#view-overview .findings button[title^='No GPU works']"
    if page.js("return document.querySelector(arguments[0]) === null", link):
        return
    want = page.js("return idleCard(app) ? 'kernels' : 'timeline'")
    page.click(link)
    checks.check("agree: idle GPUs lead to why they are idle", page.js(
        "return app.current === arguments[0] && (arguments[0] === 'timeline' || "
        "document.querySelector('#view-kernels .idle').offsetHeight > 0)", want), want)


def use_denominator(page, checks):
    """The shares of activities name the time that they are parts of."""
    page.show("overview")
    whole, heads = page.js("""const p = app.profile,
          all = p.metrics.filter(m => m.kind === METRIC_ACTIVITY).map(m => p.whole(m.id));
        return [all.length ? formatSeconds(all.reduce((a, b) => a + b)) : "",
          [...document.querySelectorAll('#view-overview th')].map(x => x.textContent)]""")
    checks.check("agree: what the shares of activities are of", not whole or any(
        f"shares of {whole} of all threads" in head for head in heads), [whole, heads])


def use_symbols(page, checks):
    """Symbols are fetched by the build id of the file that ran, and not of a file that changed."""
    if page.js("return app.profile.isComparison"):
        return
    got = page.js("""const build = "00ff",
          modules = [{path: "/usr/lib/libc.so.6", build, structure: 2},
            {path: "/usr/lib/libm.so.6", build, structure: STRUCTURE_CHANGED},
            {path: "/usr/lib/libnone.so", structure: 0}],
          p = {str: x => x, meta: {modules}};
        return symbolLines(p, modules.map(m => baseName(m.path))).map(x => x.textContent)""")
    checks.check("agree: symbols of the file that ran", len(got) == 3 and
                 "debuginfod-find debuginfo 00ff" in got[0] and "another build id" in got[1] and
                 "debuginfod" not in got[1] and "make the report again" in got[2], got)
    bad = page.js("""return app.profile.meta.modules.filter(m =>
        m.build !== undefined && !/^([0-9a-f]{2})+$/.test(m.build)).length""")
    checks.check("agree: build ids are hexadecimal", bad == 0, bad)


def use_terms(page, checks):
    """Efficiencies have the terms of POP, and both balances are told apart."""
    pop, ranks = page.js("""const {pop, processes} = app.profile.meta;
        return [pop ?? null, processes.some(x => x.rank >= 0)]""")
    if pop is None:
        return
    page.show("waiting")
    text = page.js("""return [...document.querySelectorAll('#view-waiting .card')].find(c =>
        c.innerText.startsWith('Parallel efficiency')).innerText""")
    word = "communication" if ranks else "serialisation"
    checks.check("agree: communication is of ranks only", f"load balance × {word}." in text and
                 word in text.split("elapsed")[1], text)
    page.show("threads")
    balance = f"load balance {pop['phases'][0]['balance'] / 10:.1f} %"
    text = page.js("return document.querySelector('#view-threads').innerText")
    if "Balance (mean / most)" in text and page.js("return app.profile.metrics[app.metric].time"):
        checks.check("agree: the balance of useful time is beside that of samples",
                     balance in text, text[:300])
