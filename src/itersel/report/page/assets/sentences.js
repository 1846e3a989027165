"use strict";
// Translations of two systems side by side, one page at a time.
(function () {
  const form = document.getElementById("sentence-form");
  if (!form) return;
  const SHOWN = 20;
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

  function card(row) {
    const { number, source, references, a, b } = row;
    const data = page.data.languages;
    const pair = page.make("div", { class: "pair" },
      page.make("div", {}, page.make("dt", {}, "A: ", page.make("bdi", {}, form.a.value), ` (chrF ${chrf(a.chrf)})`), text(marked(b.text, a.text, "del"), data.target)),
      page.make("div", {}, page.make("dt", {}, "B: ", page.make("bdi", {}, form.b.value), ` (chrF ${chrf(b.chrf)})`), text(marked(a.text, b.text, "ins"), data.target)));
    const parts = source ? [page.make("dt", {}, "source"), text([source], data.source)] : [];
    references.forEach((one, i) => parts.push(page.make("dt", {}, references.length > 1 ? `reference ${i + 1}` : "reference"), text([one], data.target)));
    const gain = (b.chrf - a.chrf) / 10;
    const heading = page.make("h3", {}, `Sentence ${number + 1}`, page.make("span", {}, `difference ${gain > 0 ? "+" : ""}${gain.toFixed(1)} chrF`));
    const node = page.make("article", { class: "sentence" }, heading, page.make("dl", {}, ...parts, pair));
    const tree = page.derivationOf?.(form.set?.value ?? [...sets.keys()][0], number, [form.a.value, form.b.value]);
    if (tree) node.append(tree);
    return node;
  }

  function compared() {
    const [i, j] = [form.a.value, form.b.value].map((name) => current.systems.indexOf(name));
    return current.rows.map(([source, references, texts, which, scores], number) => ({
      number, source, references,
      a: { text: texts[which[i]], chrf: scores[which[i]] },
      b: { text: texts[which[j]], chrf: scores[which[j]] },
    }));
  }

  // lists of other decoders may come without sources
  const length = (row) => (row.source || row.references[0]).length;
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
    const rows = compared();
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
      : "No sentence contains this text.";
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
