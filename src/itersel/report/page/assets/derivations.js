"use strict";
// How a sentence was translated: the rules as a tree, and the word alignment that they imply.
(async function () {
  const all = await page.unpack(document.getElementById("derivations").textContent);
  const rows = new Map((all?.sentences ?? []).map((row) => [row.sentence, row]));
  page.hasDerivation = (number) => Number(page.currentSet === all?.test_set && rows.has(number));

  page.derivationOf = function (set, number, names) {
    const shown = names.filter((name, i) => all?.systems.includes(name) && names.indexOf(name) === i);
    if (set !== all?.test_set || !rows.has(number) || !shown.length) return null;
    const row = rows.get(number);
    const details = page.make("details", { class: "derivations" }, page.make("summary", {}, "Derivation and word alignment"));
    // trees are large, so they are built only when opened
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".two"))
        details.append(page.make("div", { class: "two" }, ...shown.map((name) => one(row, name, row.derivations[all.systems.indexOf(name)]))));
    });
    return details;
  };

  function one(row, name, derivation) {
    const rest = derivation.score - derivation.lm;
    const sum = `Score ${derivation.score.toFixed(2)}: rules ${rest.toFixed(2)}, language model ${derivation.lm.toFixed(2)}.`;
    const help = "Each rule: source span, source and target side, and the score that it adds; open it for its largest features.";
    return page.make("div", {}, page.make("h4", {}, page.make("bdi", {}, name)), page.make("p", { class: "dim" }, `${sum} ${help}`),
      tree(derivation.nodes), page.make("h4", {}, "Word alignment"), matrix(row.source, derivation), pairs(row.source, derivation));
  }

  function tree(nodes) {
    const root = page.make("ul", { class: "tree" });
    const lists = [root];
    for (const node of nodes) {
      const item = page.make("li", {}, rule(node));
      const below = page.make("ul", {});
      item.append(below);
      lists[node.depth].append(item);
      lists[node.depth + 1] = below;
    }
    root.querySelectorAll("ul:empty").forEach((list) => list.remove());
    return root;
  }

  function rule(node) {
    const title = page.make("summary", { class: "rule" }, page.make("span", { class: "dim" }, `${node.begin + 1}–${node.end} `),
      ...page.rule(node.source, node.target), page.make("span", { class: "dim" }, `  ${node.score.toFixed(3)}`));
    const features = node.features.map(([name, value]) => page.make("li", {}, page.make("bdi", { title: page.explain(name) ?? "" }, name), ` ${value.toFixed(3)}`));
    return page.make("details", {}, title, features.length ? page.make("ul", {}, ...features) : page.make("p", { class: "dim" }, "No feature has a weight."));
  }

  function matrix(source, derivation) {
    const linked = new Set(derivation.links.map(([i, j]) => `${i} ${j}`));
    const head = page.make("tr", {}, page.make("td", {}), ...derivation.words.map((word) => page.make("th", { scope: "col" }, page.make("bdi", {}, word))));
    const body = source.map((word, i) => page.make("tr", {}, page.make("th", { scope: "row" }, page.make("bdi", {}, word)),
      ...derivation.words.map((_, j) => linked.has(`${i} ${j}`) ? page.make("td", { class: "linked" }, "●") : page.make("td", {}))));
    const table = page.make("table", { class: "alignment", "aria-hidden": "true" }, page.make("thead", {}, head), page.make("tbody", {}, ...body));
    return page.make("div", { class: "wide" }, table);
  }

  // The matrix as a list, for screen readers.
  function pairs(source, derivation) {
    const items = derivation.links.map(([i, j]) => page.make("li", {}, page.make("bdi", {}, source[i]), " – ", page.make("bdi", {}, derivation.words[j])));
    return page.make("details", {}, page.make("summary", {}, "The alignment as a list"), page.make("ul", {}, ...items));
  }

  page.startSentences?.();
})();
