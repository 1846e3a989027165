"use strict";
// The charts of several runs: differences from the baseline, with intervals.
(function () {
  function paint() {
    const color = page.palettes[page.isDark() ? "dark" : "light"][0];
    for (const [name, { rows, told }] of Object.entries(page.data.figures)) {
      const labels = page.labels(rows.map((row) => row.run));
      page.show(name, rows.map((row) => ({ ...row, label: labels.get(row.run), color })), told);
    }
  }
  paint();
  page.painters.push(paint);
})();
