"use strict";
// Curves and boxplots: the data of the run are added to the specifications made in Python.
(function () {
  const MOST = 8;
  const GREY = { light: "#c4c8cd", dark: "#4a525b" };
  const experiments = [...new Set(page.data.repeats.map((repeat) => repeat.experiment))];
  // other systems have no learner
  const systems = (page.data.table?.test_sets[0].systems ?? []).filter((one) => one.learner);
  const scoreOf = (system) => system.scores["tokenized-bleu"];
  const score = new Map(systems.map((one) => [one.name, scoreOf(one).mean]));
  const best = [...experiments].sort((a, b) => (score.get(b) ?? -1) - (score.get(a) ?? -1)).slice(0, MOST);
  // in the order of the config, whatever the scores
  const chosen = new Set(experiments.filter((name) => best.includes(name)));
  const slots = new Map();
  const labels = page.labels(experiments);

  function place(name) {
    if (!slots.has(name)) {
      const used = new Set(slots.values());
      slots.set(name, page.palettes.light.findIndex((_, number) => !used.has(number)));
    }
    return slots.get(name);
  }

  page.look = function (name) {
    const theme = page.isDark() ? "dark" : "light";
    if (!chosen.has(name)) return { color: GREY[theme], dash: [1, 0], order: 0 };
    const number = place(name);
    const dash = page.dashes[number];
    return { color: page.palettes[theme][number], dash: dash.length ? dash : [1, 0], order: 1 };
  };

  function curves() {
    const rows = page.data.repeats.flatMap((repeat) => {
      const { color, dash, order } = page.look(repeat.experiment);
      return repeat.epochs.map((epoch) => ({ ...epoch, repeat: repeat.name, color, dash: JSON.stringify(dash), order }));
    });
    rows.sort((a, b) => a.order - b.order);
    for (const name of page.measures) {
      const shown = rows.filter((row) => row[name] !== null && !row.passed_on).map(styled);
      // Vega warns about layers without data
      const hasRings = shown.some((row) => row.chosen && row.order);
      page.show(name, shown, caption(name), hasRings ? {} : { layer: page.charts[name].layer.slice(0, 1) });
    }
  }
  const styled = (row) => ({ ...row, dash: JSON.parse(row.dash) });

  // Returns a sentence that summarises a chart.
  function caption(name) {
    const values = page.data.repeats.flatMap((repeat) =>
      repeat.epochs.filter((epoch) => epoch[name] !== null && !epoch.passed_on).map((epoch) => ({ repeat: repeat.name, ...epoch })));
    if (!values.length) return "Nothing has recorded this.";
    const low = values.reduce((a, b) => (b[name] < a[name] ? b : a));
    const high = values.reduce((a, b) => (b[name] > a[name] ? b : a));
    const say = (one) => `${page.number(one[name])} (${one.repeat}, epoch ${one.epoch})`;
    return low[name] === high[name]
      ? `All values are ${page.number(low[name])}.`
      : `Lowest: ${say(low)}; highest: ${say(high)}.`;
  }

  function table() {
    const columns = ["repeat", "epoch", ...page.measures];
    const titles = ["repeat", "epoch", ...page.measures.map((name) => page.titles[name])];
    const head = page.make("tr", {}, ...titles.map((title, i) => page.make("th", { scope: "col", class: i ? "number" : "" }, title)));
    const body = page.data.repeats.flatMap((repeat) => repeat.epochs.map((epoch) => {
      const row = { ...epoch, repeat: repeat.name };
      return page.make("tr", { class: epoch.chosen ? "chosen" : "" }, ...columns.map((column, i) => {
        const text = i ? page.number(row[column]) : row[column];
        const note = epoch.chosen ? " (chosen)" : epoch.passed_on ? " (passed on)" : "";
        const shown = column === "epoch" ? text + note : text;
        return page.make(i ? "td" : "th", { class: i ? "number" : "", "data-value": String(row[column] ?? "") }, page.make("bdi", {}, shown));
      }));
    }));
    const node = page.make("table", {}, page.make("thead", {}, head), page.make("tbody", {}, ...body));
    page.sortable(node);
    document.getElementById("values").replaceChildren(node);
  }

  const middle = (values) => {
    const sorted = [...values].sort((a, b) => a - b);
    const half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  };

  function boxplots() {
    if (!document.getElementById("variance")) return;
    const key = document.getElementById("group").value;
    const rows = systems.flatMap((system) => system.repeats.map(({ repeat }, place) => ({
      group: String(key === "experiment" ? system.name : system[key]),
      label: key === "experiment" ? labels.get(system.name) : String(system[key]),
      repeat: repeat > 1 ? `${system.name}.repeat-${repeat}` : system.name,
      score: scoreOf(system).repeats[place],
      color: page.look(system.name).color,
    })));
    const groups = new Map();
    for (const row of rows) groups.set(row.group, [...(groups.get(row.group) || []), row.score]);
    const lines = [...groups].map(([name, scores]) =>
      `${name}: ${scores.length} repeat${scores.length > 1 ? "s" : ""}, median ${middle(scores).toFixed(2)}, ` +
      `${Math.min(...scores).toFixed(2)} to ${Math.max(...scores).toFixed(2)}`);
    const text = document.querySelector('[data-caption="boxes"]');
    page.show("boxes", rows, "", { height: 26 * groups.size });
    const list = page.make("ul", {}, ...lines.map((line) => page.make("li", {}, line)));
    text.replaceChildren(page.make("details", {}, page.make("summary", {}, "The chart as text"), list));
  }

  function chooser() {
    const boxes = document.querySelector("#chooser .boxes");
    boxes.replaceChildren(...experiments.map((name) => {
      const input = page.make("input", { type: "checkbox", checked: chosen.has(name) });
      input.addEventListener("change", () => {
        if (input.checked && chosen.size < MOST) chosen.add(name);
        else {
          chosen.delete(name);
          slots.delete(name);
          input.checked = false;
        }
        paint();
      });
      const key = page.key();
      key.dataset.name = name;
      return page.make("label", { title: name }, input, key, page.make("bdi", {}, labels.get(name)));
    }));
  }

  function keys() {
    for (const key of document.querySelectorAll(".key")) {
      const { color, dash } = page.look(key.dataset.name);
      page.draw(key, color, dash);
    }
    const isFull = chosen.size >= MOST;
    for (const input of document.querySelectorAll("#chooser input")) input.disabled = isFull && !input.checked;
  }

  function paint() {
    experiments.filter((name) => chosen.has(name)).forEach(place);
    keys();
    curves();
    boxplots();
  }

  page.measures = [...document.querySelectorAll("#curves [data-chart]")].map((node) => node.dataset.chart);
  page.titles = Object.fromEntries(page.measures.map((name) =>
    [name, document.querySelector(`#curves [data-chart="${name}"]`).closest("figure").querySelector("h3").textContent]));
  chooser();
  table();
  paint();
  page.painters.push(paint);
  document.getElementById("group")?.addEventListener("change", boxplots);
})();
