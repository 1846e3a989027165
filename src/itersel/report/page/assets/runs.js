"use strict";
// The charts of several runs: differences from the baseline, with intervals.
(function () {
  function paint() {
    const color = page.palettes[page.isDark() ? "dark" : "light"][0];
    for (const [name, { rows, told }] of Object.entries(page.data.figures))
      page.show(name, rows.map((row) => ({ ...row, color })), told);
  }
  paint();
  page.painters.push(paint);
})();
