"use strict";
// The weights of a system, by group of features.
(function () {
  const repeats = page.data.repeats.filter((repeat) => repeat.features);
  const select = document.getElementById("features-system");
  document.getElementById("features").hidden = repeats.length === 0;
  if (!repeats.length) return;
  // the first one with feature selection, because it has the most to show
  const first = repeats.find((repeat) => repeat.features.selection.length) || repeats.at(-1);
  page.fill(select, repeats.map((repeat) => repeat.name), first.name);

  function distribution(groups) {
    const rows = groups.flatMap((one) => one.histogram.map(([exponent, negative, positive]) => ({
      group: one.group, exponent, features: negative + positive,
      from: `${(10 ** exponent).toPrecision(1)} to ${(10 ** (exponent + 0.5)).toPrecision(1)}`,
    })));
    const caption = groups.map((one) => `${one.group}: ${page.number(one.count)}, ${page.number(one.positive)} positive`);
    page.show("distribution", rows, `${caption.join("; ")}.`);
  }

  function selection(repeat) {
    const all = repeat.features.selection.filter((row) => row.group === "all");
    for (const node of document.querySelectorAll('[data-needs="selection"]')) node.hidden = !all.length;
    if (!all.length) return;
    const rows = all.flatMap((row) => [
      { epoch: row.epoch, kind: "selected before", features: row.selected_before },
      { epoch: row.epoch, kind: "new", features: row.selected - row.selected_before },
    ]);
    const caption = all.map((row) => `epoch ${row.epoch}: ${page.number(row.selected)} of ${page.number(row.features)}, ${page.number(row.selected_before)} selected before`);
    page.show("selected", rows, `${caption.join("; ")}.`);
    shared(repeat);
  }

  function shared(repeat) {
    const epoch = repeat.epochs.find((one) => one.chosen)?.epoch;
    const groups = repeat.features.selection.filter((row) => row.group !== "all" && row.epoch === epoch);
    const rows = groups.flatMap((row) => row.selected_by_number_of_shards.map((features, i) => ({ shards: i + 1, group: row.group, features })));
    const one = groups.reduce((sum, row) => sum + (row.selected_by_number_of_shards[0] || 0), 0);
    const last = groups.reduce((sum, row) => sum + (row.selected_by_number_of_shards.at(-1) || 0), 0);
    const most = groups[0]?.selected_by_number_of_shards.length ?? 0;
    page.show("shared", rows, `In one shard: ${page.number(one)}; in all ${most}: ${page.number(last)}.`);
  }

  function written(name) {
    const sides = page.sides(name);
    return sides ? page.make("span", { class: "rule", title: name }, ...page.rule(...sides)) : page.breakable(name);
  }

  function largest(groups) {
    const tables = groups.map((one) => {
      const hasShards = one.largest.some((row) => row.shards !== null);
      const titles = ["feature", "weight", ...(hasShards ? ["shards"] : [])];
      const head = page.make("tr", {}, ...titles.map((title, i) => page.make("th", { scope: "col", class: i ? "number" : "" }, title)));
      const rows = one.largest.map((row) => page.make("tr", {},
        page.make("th", { scope: "row", dir: "auto" }, written(row.name), one.group === "dense" ? page.make("div", { class: "dim", dir: "ltr" }, page.explain(row.name)) : null),
        page.make("td", { class: "number", "data-value": String(row.weight) }, page.number(row.weight, 4)),
        hasShards ? page.make("td", { class: "number", "data-value": String(row.shards) }, String(row.shards)) : null));
      const size = one.count > one.largest.length ? `the ${one.largest.length} largest of ${page.number(one.count)}` : one.count;
      const about = one.group === "dense" ? "" : page.explain(one.largest[0].name);
      const caption = page.make("caption", {}, `${one.group}${about ? ` (${about})` : ""}: ${size}`);
      const table = page.make("table", {}, caption, page.make("thead", {}, head), page.make("tbody", {}, ...rows));
      page.sortable(table);
      return page.make("div", { class: "wide" }, table);
    });
    document.getElementById("largest").replaceChildren(page.make("div", { class: "charts" }, ...tables));
  }

  function paint() {
    const repeat = repeats.find((one) => one.name === select.value);
    distribution(repeat.features.groups);
    selection(repeat);
    largest(repeat.features.groups);
  }
  select.addEventListener("change", paint);
  page.painters.push(paint);
  paint();
})();
