/* The page of the atlas: filters its rows by words and by choices, and keeps the filter in the address.
   A classic script: modules do not load from file://. */
(() => {
  "use strict";
  const form = document.querySelector("#atlas-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("table.atlas tbody tr")];
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const table = document.querySelector("table.atlas");
  const fields = [...form.querySelectorAll("input, select")];
  const count = form.querySelector("output");
  const own = form.querySelector(".atlas-own"); // the command for a class that is not here

  const asked = () => fields.filter(({ value }) => value).map(({ name, value }) => [name, value]);

  function matches(row, wanted) {
    return wanted.every(([name, value]) =>
      name === "q"
        ? value
            .toLowerCase()
            .split(/\s+/)
            .every((word) => texts.get(row).includes(word))
        : row.dataset[name] === value,
    );
  }

  function filter() {
    const wanted = asked();
    for (const row of rows) row.hidden = !matches(row, wanted);
    const number = rows.filter((row) => !row.hidden).length;
    count.textContent = `${number ? "" : "Nothing is found: "}${number} of ${rows.length} rows`;
    table.hidden = !number;
    form.querySelector("[type=reset]").style.visibility = number === rows.length ? "hidden" : ""; // nothing below it moves
    if (own) own.hidden = number > 0;
  }

  function remember() {
    const query = new URLSearchParams(asked());
    try {
      history.replaceState(null, "", location.pathname + (query.size ? `?${query}` : "") + location.hash);
    } catch {
      /* the filter works without */
    }
  }

  const query = new URLSearchParams(location.search);
  for (const field of fields) {
    field.value = query.get(field.name) ?? "";
    if (field.selectedIndex === -1) field.value = ""; // a choice that no row has
  }
  form.addEventListener("input", () => {
    filter();
    remember();
  });
  form.addEventListener("reset", () =>
    setTimeout(() => {
      filter();
      remember();
    }),
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();
})();
