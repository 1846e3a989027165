"use strict";
// Draws the charts: scripts add their data to the specifications made in Python.
(function () {
  const theme = () => {
    const style = getComputedStyle(document.documentElement);
    const [ink, line] = ["--dim", "--line"].map((name) => style.getPropertyValue(name).trim());
    const axis = { labelColor: ink, titleColor: ink, gridColor: line, domainColor: line, tickColor: line };
    return {
      background: "transparent",
      font: "system-ui, DejaVu Sans, sans-serif",
      axis: { ...axis, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 12 },
      legend: { labelColor: ink, titleColor: ink, labelFontSize: 12 },
      view: { stroke: line },
    };
  };

  // Draws a chart when it scrolls into view, and redraws it when its data or the colours change.
  const waiting = new Map();
  const views = new Map();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) draw(entry.target);
  }, { rootMargin: "400px" });

  async function draw(node) {
    const make = waiting.get(node);
    if (!make) return;
    waiting.delete(node);
    views.get(node)?.finalize();
    const { rows, ...changes } = make();
    const spec = { ...structuredClone(page.charts[node.dataset.chart]), ...changes, data: { values: rows } };
    const options = { ast: true, actions: false, renderer: "svg", config: theme(), tooltip: { theme: page.isDark() ? "dark" : "light" } };
    const view = await vegaEmbed(node, spec, options);
    views.set(node, view);
    node.querySelector("svg")?.setAttribute("aria-hidden", "true");
    node.dataset.drawn = "";
  }

  page.show = function (name, rows, caption, changes = {}) {
    const node = document.querySelector(`[data-chart="${name}"]`);
    const text = document.querySelector(`[data-caption="${name}"]`);
    if (text) text.textContent = caption;
    node.closest("figure").hidden = rows.length === 0;
    delete node.dataset.drawn;
    waiting.delete(node);
    if (!rows.length) return;
    waiting.set(node, () => ({ rows, ...changes }));
    observer.unobserve(node);
    observer.observe(node);
    page.drawOthers();
  };
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(draw));

  // The other charts are drawn when the browser is idle, so that all of them can be printed.
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
  async function drawOther() {
    const node = waiting.keys().next().value;
    if (node) await draw(node);
    if (waiting.size) idle(drawOther);
  }
  page.drawOthers = () => idle(drawOther);
})();
