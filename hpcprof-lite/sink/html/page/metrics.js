// SPDX-License-Identifier: BSD-3-Clause
// The menu of metrics: in groups, in words, with the name that the other outputs use behind them.

const METRIC_GROUPS = [
  ["CPU", [METRIC_SAMPLED]],
  ["Threads: work and waits", [METRIC_ACTIVITY]],
  ["Memory of the host", [METRIC_MEMORY]],
  ["GPU: times", [METRIC_GPU_TIME]],
  ["GPU: counts and bytes", [METRIC_GPU_COUNT]],
  ["GPU: samples of instructions", [METRIC_GPU_SAMPLES]],
  ["Quality of call paths", [METRIC_GUESSED]],
];

const SAMPLED_WORDS = {
  "CPUTIME (sec)": "CPU time",
  "REALTIME (sec)": "elapsed time of threads",
  "OFFCPU (sec)": "time off the processors",
  "MEMORY (B)": "bytes allocated",
};

// "GPU time: kernel execution, seconds" for "GKER (sec)"; in sentences "GPU time (kernel execution)".
function metricWords(p, metric, inSentence) {
  const m = p.metrics[metric];
  if (m.kind === METRIC_SAMPLED) return SAMPLED_WORDS[m.label] ?? m.label;
  const words = p.str(m.meaning) ? `warps that ${p.str(m.meaning)}` : p.str(m.description),
    [, text, unit] = words.match(/^(.*?)(?: \((seconds|bytes)\))?(?:;.*)?$/s) ?? [];
  if (!text) return m.label;
  if (inSentence) return text.replace(/: (.*)/s, " ($1)");
  return unit ? `${text}, ${unit}` : text;
}

function fillMetricMenu(select, p) {
  for (const [title, kinds] of METRIC_GROUPS) {
    const group = el("optgroup", { label: title });
    p.metrics.forEach((m, i) => {
      if (!kinds.includes(m.kind) || !p.isShown(i)) return;
      const words = metricWords(p, i);
      group.append(el("option", { value: i }, words === m.label ? words : `${words} – ${m.label}`));
    });
    if (group.children.length) select.append(group);
  }
}
