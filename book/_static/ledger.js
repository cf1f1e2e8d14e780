/* The ledger's page: filters its rows and its picture, keeps the filter in the address, and opens the entry that a link
   leads to. What the address understands stands in ledger_pages.py.
   A classic script: modules do not load from file://. */
(() => {
  "use strict";
  const form = document.querySelector("#ledger-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll(".ledger-entry")];
  const chapters = [...document.querySelectorAll(".ledger-chapter")];
  const dots = [...document.querySelectorAll(".ledger-picture .claim-shape")];
  const dotOf = new Map(dots.map((dot) => [dot.hash.slice(1), dot]));
  const kinds = document.querySelector(".ledger-chips");
  const fields = [...form.querySelectorAll("input, select"), ...kinds.querySelectorAll("input")];
  const count = form.querySelector("output");
  const texts = new Map(); // made when somebody searches
  let coming = null; // what is folded under the rows, from ledger_bodies.py
  const due = new Set(); // rows that were opened and are not yet filled: all of them together have 40,000 elements

  /** Fill some entries, each once: the script that has them all is loaded when it is first needed. */
  function fill(some) {
    for (const row of some) due.add(row);
    coming ??= new Promise((done) => {
      const script = Object.assign(document.createElement("script"), { src: form.dataset.entries, onload: done });
      script.onerror = () => {
        coming = null; // the entries lead to the Markdown copy; the next one that is opened asks again
        script.remove();
      };
      document.head.append(script);
    });
    return coming.then(() => new Promise(requestAnimationFrame)).then(put); // many may be opened at once
  }

  function put() {
    const bodies = globalThis.ropeLedgerEntries,
      empty = [...due].filter(({ id }) => id in bodies);
    due.clear();
    if (!empty.length) return;
    for (const row of empty) {
      while (row.lastElementChild.matches(":not(summary)")) row.lastElementChild.remove();
      row.insertAdjacentHTML("beforeend", bodies[row.id]);
      delete bodies[row.id];
      copyButtons(row);
      row.dispatchEvent(new Event("filled"));
    }
    texts.clear();
    const measure = () => dispatchEvent(new Event("resize")); // for what measures the page
    measure();
    document.fonts.ready.then(measure); // an entry may be the first to need a font
    filter();
  }

  /** A button beside each check, as copybutton.js makes them. It listens to the whole page, so it serves these too. */
  function copyButtons(row) {
    // biome-ignore-start lint/correctness/noUndeclaredVariables: of copybutton.js
    if (typeof iconCopy === "undefined") return;
    for (const [index, code] of row.querySelectorAll(".highlight pre").entries()) {
      code.id = `check${rows.indexOf(row)}-${index}`;
      const button = `<button class="copybtn o-tooltip--left" data-tooltip="${messages[locale].copy}" data-clipboard-target="#${code.id}">`;
      code.insertAdjacentHTML("afterend", `${button}${iconCopy}</button>`);
    }
    // biome-ignore-end lint/correctness/noUndeclaredVariables: of copybutton.js
  }

  function text(row) {
    if (!texts.has(row)) {
      const formulas = [...row.querySelectorAll("[data-tex]")].map(({ dataset }) => dataset.tex);
      texts.set(row, [row.textContent, ...formulas].join(" ").toLowerCase().replace(/\s+/g, " "));
    }
    return texts.get(row);
  }

  /** What is asked for: pairs of a field's name and its value. */
  const asked = () =>
    fields
      .filter(({ type, value, checked }) => value && (type !== "radio" || checked))
      .map(({ name, value }) => [name, value]);

  /** A field of a row; where the row says nothing, it has what its chapter says. */
  const field = (row, name) => row.closest(`[data-${name}]`).dataset[name];

  function matches(row, wanted) {
    return wanted.every(([name, value]) =>
      name === "q"
        ? value
            .toLowerCase()
            .split(/\s+/)
            .every((word) => text(row).includes(word))
        : field(row, name) === value,
    );
  }

  /** Show the rows that match. The entry that the address names stays, also when it does not match. */
  function filter() {
    const [named, wanted] = [target(), asked()];
    if (wanted.some(([name]) => name === "q")) fill(rows);
    let number = 0;
    for (const row of rows) {
      const matching = matches(row, wanted);
      number += matching;
      row.hidden = !matching && row !== named;
      dotOf.get(row.id)?.classList.toggle("out", !matching);
    }
    for (const chapter of chapters) chapter.hidden = !chapter.querySelector(".ledger-entry:not([hidden])");
    const extra = named && !matches(named, wanted) ? ", and the one you were led to" : "";
    count.textContent = `${number ? "" : "Nothing is found: "}${number} of ${rows.length} claims${extra}`;
    form.querySelector("[type=reset]").style.visibility = number === rows.length ? "hidden" : ""; // nothing below it moves
  }

  /** Write the filter into the address, so that it can be sent to somebody. */
  function remember() {
    const query = new URLSearchParams(asked());
    const address = location.pathname + (query.size ? `?${query}` : "");
    try {
      history.replaceState(null, "", address);
    } catch {
      /* the filter works without */
    }
  }

  function recall() {
    const query = new URLSearchParams(location.search);
    for (const field of fields) {
      const value = query.get(field.name) ?? "";
      if (field.type === "radio") field.checked = field.value === value;
      else field.value = value;
      if (field.selectedIndex === -1) field.value = ""; // a choice that no row has
    }
    if (!kinds.querySelector(":checked")) kinds.querySelector("input").checked = true;
  }

  function target() {
    const row = globalThis.ropeMemory.place();
    return rows.includes(row) ? row : null;
  }

  function arrive() {
    filter();
    const row = target();
    if (!row) return;
    row.open = true;
    const show = () => row.scrollIntoView({ behavior: "instant" });
    show();
    fill([row]).then(show);
  }

  /** The picture is one stop of the Tab key; the arrow keys, Home and End go from dot to dot. */
  function walk(event) {
    const here = dots.indexOf(event.target);
    const line = [...event.target.parentElement.children],
      place = line.indexOf(event.target);
    const lines = [...document.querySelectorAll(".ledger-picture li > span")],
      level = lines.indexOf(event.target.parentElement);
    const other = (by) =>
      lines[level + by] && [...lines[level + by].children].at(Math.min(place, lines[level + by].childElementCount - 1));
    const to = {
      ArrowRight: dots[here + 1],
      ArrowLeft: dots[here - 1],
      ArrowDown: other(1),
      ArrowUp: other(-1),
      Home: line[0],
      End: line.at(-1),
    }[event.key];
    if (here < 0 || !to) return;
    event.preventDefault();
    dots[here].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  form.hidden = false;
  kinds.disabled = false;
  if (dots.length) dots[0].tabIndex = 0;
  document.querySelector(".ledger-picture").addEventListener("keydown", walk);
  for (const row of rows) row.addEventListener("toggle", () => fill([row]));
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const place of [form, kinds])
    place.addEventListener("input", () => {
      remember();
      filter();
    });
  form.addEventListener("reset", () =>
    setTimeout(() => {
      remember();
      filter();
    }),
  );
  addEventListener("hashchange", arrive);
  addEventListener("popstate", () => {
    recall();
    filter();
  });
  recall();
  filter();
  addEventListener("load", arrive);
})();
