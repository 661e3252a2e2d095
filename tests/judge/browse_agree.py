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
