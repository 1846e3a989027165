"use strict";
// Translations of two systems side by side, one page at a time.
(function () {
  const form = document.getElementById("sentence-form");
  if (!form) return;
  const SHOWN = 20;
  const NGRAMS = 10;
  // longer pairs are compared as sets of words: time and memory of an exact comparison grow with the product of lengths
  const MOST_CELLS = 4e6;
  const sets = new Map([...document.querySelectorAll(".texts")].map((node) => [node.dataset.name, node.textContent]));
  const list = document.getElementById("sentence-list");
  const count = document.getElementById("sentence-count");
  const [previous, next] = ["previous", "next"].map((name) => document.getElementById(name));
  let current = null;
  let found = [];
  let first = 0;

  const split = (text) => text.split(/(\s+)/).filter((word) => word !== "");

  // Marks the words of b that are not in the longest common subsequence with a.
  page.differing = function (a, b) {
    let start = 0;
    while (start < a.length && start < b.length && a[start] === b[start]) start++;
    let end = 0;
    while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
    const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
    const middle = x.length * y.length > MOST_CELLS ? y.map((word) => !x.includes(word)) : unmatched(x, y);
    return [...Array(start).fill(false), ...middle, ...Array(end).fill(false)];
  };

  function unmatched(x, y) {
    const width = y.length + 1;
    const length = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--)
        length[i * width + j] = x[i] === y[j]
          ? length[(i + 1) * width + j + 1] + 1
          : Math.max(length[(i + 1) * width + j], length[i * width + j + 1]);
    const marks = Array(y.length).fill(true);
    for (let i = 0, j = 0; i < x.length && j < y.length;)
      if (x[i] === y[j]) { marks[j++] = false; i++; }
      else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) i++;
      else j++;
    return marks;
  }

  function marked(other, own, tag) {
    const [a, b] = [split(other).filter((word) => word.trim()), split(own).filter((word) => word.trim())];
    const marks = page.differing(a, b);
    return b.flatMap((word, i) => [i ? " " : "", marks[i] ? page.make(tag, {}, word) : word]);
  }

  const text = (words, language) => page.make("dd", { dir: "auto", tabindex: "0", ...(language ? { lang: language } : {}) }, ...words);
  const chrf = (value) => (value / 10).toFixed(1);
  const signed = (value) => `${value > 0 ? "+" : ""}${value.toFixed(1)}`;

  function card(row) {
    const { number, source, references, a, b } = row;
    const data = page.data.languages;
    const pair = page.make("div", { class: "pair" },
      page.make("div", {}, page.make("dt", {}, "A: ", page.make("bdi", {}, form.a.value), ` (chrF ${chrf(a.chrf)})`), text(marked(b.text, a.text, "del"), data.target)),
      page.make("div", {}, page.make("dt", {}, "B: ", page.make("bdi", {}, form.b.value), ` (chrF ${chrf(b.chrf)})`), text(marked(a.text, b.text, "ins"), data.target)));
    const parts = source ? [page.make("dt", {}, "source"), text([source], data.source)] : [];
    references.forEach((one, i) => parts.push(page.make("dt", {}, references.length > 1 ? `reference ${i + 1}` : "reference"), text([one], data.target)));
    const heading = page.make("h3", {}, `Sentence ${number + 1}`, page.make("span", {}, `difference ${signed((b.chrf - a.chrf) / 10)} chrF`));
    const node = page.make("article", { class: "sentence" }, heading, page.make("dl", {}, ...parts, pair));
    const tree = page.derivationOf?.(form.set?.value ?? [...sets.keys()][0], number, [form.a.value, form.b.value]);
    if (tree) node.append(tree);
    return node;
  }

  function compared() {
    const [i, j] = [form.a.value, form.b.value].map((name) => current.systems.indexOf(name));
    return current.rows.map(([source, references, texts, which, scores, groups], number) => ({
      number, source, references,
      // a group may be that of each system
      groups: groups.map((one) => (Array.isArray(one) ? Math.max(one[i], one[j]) : one)),
      a: { text: texts[which[i]], chrf: scores[which[i]] },
      b: { text: texts[which[j]], chrf: scores[which[j]] },
    }));
  }

  // lists of other decoders may come without sources
  const length = (row) => (row.source || row.references[0]).length;

  // Returns a table with a first column of text, then numbers.
  function comparison(caption, titles, rows) {
    const head = page.make("tr", {}, ...titles.map((title, i) => page.make("th", { scope: "col", class: i ? "number" : "" }, title)));
    const body = rows.map(([text, ...numbers]) => page.make("tr", {}, page.make("th", { scope: "row" }, page.make("bdi", {}, text)),
      ...numbers.map((number) => page.make("td", { class: "number" }, number))));
    const table = page.make("table", {}, page.make("caption", {}, caption), page.make("thead", {}, head), page.make("tbody", {}, ...body));
    return page.make("div", { class: "wide" }, table);
  }

  function differences(rows) {
    const mean = (some, system) => some.reduce((sum, row) => sum + row[system].chrf, 0) / some.length / 10;
    const tables = current.groupings.map(({ title, labels }, place) => {
      const groups = labels.map((label, group) => [label, rows.filter((row) => row.groups[place] === group)]);
      return comparison(title, ["", "sentences", "A", "B", "B\u00a0−\u00a0A"], groups.filter(([, some]) => some.length).map(([label, some]) => {
        const [a, b] = [mean(some, "a"), mean(some, "b")];
        return [label, page.number(some.length), a.toFixed(1), b.toFixed(1), signed(b - a)];
      }));
    });
    const [i, j] = [form.a.value, form.b.value].map((name) => current.systems.indexOf(name));
    const ratio = ([, counts], one, other) => (counts[one] + 1) / (counts[other] + 1);
    const better = (one, other) => current.ngrams.filter(([, counts]) => counts[one] > counts[other] + 1)
      .sort((x, y) => ratio(y, one, other) - ratio(x, one, other)).slice(0, NGRAMS)
      .map(([text, counts]) => [text, String(counts[i]), String(counts[j])]);
    for (const [label, ngrams] of [["A", better(i, j)], ["B", better(j, i)]])
      if (ngrams.length) tables.push(comparison(`N-grams that ${label} gets right more often`, ["", "A", "B"], ngrams));
    document.querySelector("#differences .charts").replaceChildren(...tables);
  }

  const orders = {
    gain: (x, y) => (y.b.chrf - y.a.chrf) - (x.b.chrf - x.a.chrf),
    loss: (x, y) => (x.b.chrf - x.a.chrf) - (y.b.chrf - y.a.chrf),
    difference: (x, y) => Math.abs(y.b.chrf - y.a.chrf) - Math.abs(x.b.chrf - x.a.chrf),
    short: (x, y) => length(x) - length(y),
    long: (x, y) => length(y) - length(x),
    order: (x, y) => x.number - y.number,
    derivation: (x, y) => page.hasDerivation(y.number) - page.hasDerivation(x.number),
  };

  function search() {
    const wanted = form.search.value.trim().toLocaleLowerCase();
    const all = compared();
    differences(all);
    const [place, group] = form.group.value.split(" ").map(Number);
    const rows = form.group.value ? all.filter((row) => row.groups[place] === group) : all;
    found = wanted
      ? rows.filter((row) => [row.source, ...row.references, row.a.text, row.b.text].some((one) => one.toLocaleLowerCase().includes(wanted)))
      : rows;
    found.sort(orders[form.sort.value]);
    first = 0;
    show();
  }

  function show() {
    const rows = found.slice(first, first + SHOWN);
    list.replaceChildren(...rows.map(card));
    const same = found.filter((row) => row.a.text === row.b.text).length;
    count.textContent = rows.length
      ? `${first + 1} to ${first + rows.length} of ${page.number(found.length)} sentences; A and B agree on ${page.number(same)} of them.`
      : "There is no such sentence.";
    previous.disabled = first === 0;
    next.disabled = first + SHOWN >= found.length;
    list.dataset.shown = `${form.a.value} ${form.b.value}`;
  }

  function turn(by) {
    first += by;
    show();
    count.scrollIntoView({ block: "nearest" });
  }

  async function read() {
    const name = form.set?.value ?? [...sets.keys()][0];
    current = await page.unpack(sets.get(name));
    page.currentSet = name;
    const { systems } = current;
    const [a, b] = page.data.compared.every((one) => systems.includes(one)) ? page.data.compared : [systems[0], systems.at(-1)];
    page.fill(form.a, systems, systems.includes(form.a.value) ? form.a.value : a);
    page.fill(form.b, systems, systems.includes(form.b.value) ? form.b.value : b);
    const groups = current.groupings.map(({ title, labels }, place) =>
      page.make("optgroup", { label: title }, ...labels.map((label, group) => page.make("option", { value: `${place} ${group}` }, label))));
    form.group.replaceChildren(page.make("option", { value: "" }, "all sentences"), ...groups);
    search();
  }

  let timer = 0;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => (event.target.name === "set" ? read() : search()));
  form.search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 150);
  });
  previous.addEventListener("click", () => turn(-SHOWN));
  next.addEventListener("click", () => turn(SHOWN));
  page.startSentences = read;
})();
