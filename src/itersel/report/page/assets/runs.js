"use strict";
// The charts of several runs: lines against a number, and differences from the baseline, with intervals.
(function () {
  const palette = () => page.palettes[page.isDark() ? "dark" : "light"];
  const dashOf = (number) => (page.dashes[number].length ? page.dashes[number] : [1, 0]);

  function differences() {
    const color = palette()[0];
    for (const [name, { rows, caption }] of Object.entries(page.data.figures)) {
      const labels = page.labels(rows.map((row) => row.run));
      page.show(name, rows.map((row) => ({ ...row, label: labels.get(row.run), color })), caption);
    }
  }

  function lineCharts() {
    for (const [name, lines] of Object.entries(page.data.lines)) {
      const rows = lines.flatMap((one, number) => one.points.map((point) => ({
        ...point, series: number, color: palette()[number], dash: dashOf(number),
        low: point.interval?.[0], high: point.interval?.[1],
      })));
      page.show(name, rows, "");
      legend(name, lines);
    }
  }

  function legend(name, lines) {
    const labels = page.labels(lines.map((one) => one.name), 36);
    document.querySelector(`[data-keys="${name}"]`).replaceChildren(...lines.map((one, number) => {
      const key = page.key(palette()[number], dashOf(number));
      return page.make("span", { title: one.name }, key, page.make("bdi", {}, labels.get(one.name)));
    }));
  }

  // Writes the points of each chart as text.
  function points() {
    const shown = ({ x, y, interval }) =>
      `${x}: ${y.toFixed(2)}` + (interval ? ` [${interval.map((end) => end.toFixed(1)).join(", ")}]` : "");
    for (const [name, lines] of Object.entries(page.data.lines)) {
      const items = lines.map((one) => page.make("li", {}, page.make("bdi", {}, one.name), ` – ${one.points.map(shown).join("; ")}`));
      document.querySelector(`[data-points="${name}"]`).replaceChildren(...items);
    }
  }

  function paint() {
    lineCharts();
    differences();
  }
  points();
  paint();
  page.painters.push(paint);
})();
