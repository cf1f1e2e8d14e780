/* The ledger's page: filters its rows, keeps the filter in the address, opens the entry that a link leads to, and
   typesets a row's mathematics when it is opened. A classic script: modules do not load from file://. */
(() => {
  "use strict";
  const form = document.querySelector(".ledger-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll(".ledger-entry")];
  const fields = [...form.querySelectorAll("input, select")];
  const count = form.querySelector("output");
  const texts = new Map(); // made when somebody searches

  function text(row) {
    if (!texts.has(row)) texts.set(row, row.textContent.toLowerCase().replace(/\s+/g, " "));
    return texts.get(row);
  }

  function matches(row) {
    return fields.every(
      ({ name, value }) =>
        !value ||
        (name === "q"
          ? value
              .toLowerCase()
              .split(/\s+/)
              .every((word) => text(row).includes(word))
          : row.dataset[name] === value),
    );
  }

  /** Show the rows that match. The entry that the address names stays, also when it does not match. */
  function filter() {
    const named = target();
    let number = 0;
    for (const row of rows) {
      const matching = matches(row);
      number += matching;
      row.hidden = !matching && row !== named;
    }
    const extra = named && !matches(named) ? ", and the one you were led to" : "";
    count.textContent = `${number} of ${rows.length} claims${extra}`;
  }

  /** Write the filter into the address, so that it can be sent to somebody. */
  function remember(keepTarget) {
    const query = new URLSearchParams(fields.filter((field) => field.value).map((field) => [field.name, field.value]));
    const address = location.pathname + (query.size ? `?${query}` : "") + (keepTarget ? location.hash : "");
    try {
      history.replaceState(null, "", address);
    } catch {
      /* the filter works without */
    }
  }

  function recall() {
    const query = new URLSearchParams(location.search);
    for (const field of fields) {
      field.value = query.get(field.name) ?? "";
      if (field.selectedIndex === -1) field.value = ""; // a choice that no row has
    }
  }

  function target() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    return rows.includes(row) ? row : null;
  }

  async function arrive() {
    filter();
    const row = target();
    if (!row) return;
    row.open = true;
    await typeset(row);
    row.scrollIntoView({ behavior: "instant" });
  }

  let waiting = [],
    drawing = null;

  /** Hand a row's formulas to MathJax, once. Rows that are opened together are drawn together. */
  function typeset(row) {
    const formulas = [...row.querySelectorAll(".math-later")];
    if (formulas.length && window.MathJax?.startup) {
      text(row); // the words as they were written, before formulas are drawn
      formulas.forEach((formula) => formula.classList.replace("math-later", "math"));
      waiting.push(...formulas);
      drawing ??= draw();
    }
    return drawing;
  }

  async function draw() {
    await new Promise((done) => {
      setTimeout(done);
    });
    const formulas = waiting,
      { startup } = window.MathJax;
    [waiting, drawing] = [[], null];
    startup.promise = startup.promise.then(() => window.MathJax.typesetPromise(formulas));
    await startup.promise;
    dispatchEvent(new Event("resize")); // theme_fixes.js then boxes the formulas that are too wide
  }

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    remember(false);
    filter();
  });
  form.addEventListener("reset", () =>
    setTimeout(() => {
      remember(false);
      filter();
    }),
  );
  document.addEventListener(
    "toggle",
    ({ target: row }) => {
      if (row.open && rows.includes(row)) typeset(row);
    },
    true,
  );
  addEventListener("hashchange", arrive);
  addEventListener("popstate", () => {
    recall();
    filter();
  });
  recall();
  filter();
  addEventListener("load", () => {
    // MathJax, which is deferred too, is there by now
    rows.filter((row) => row.open).forEach(typeset);
    arrive();
  });
})();
