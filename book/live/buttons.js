/* A button below each cell that runs in the page, in each task, in each card and entry of a claim, and above the ledger. That
   is all that a page loads of its Python; the rest comes when one of them is pressed. A classic script: modules do not load
   from file://. */
globalThis.ropeButtons = (() => {
  const { dataset, src } = document.currentScript;
  const root = src.replace(/[^/]*$/, "");
  let coming; // what all panels need

  const script = (file) =>
    new Promise((resolve, reject) => {
      const tag = make("script", { src: root + file, onload: resolve });
      tag.onerror = () => reject(new Error(`${file} is missing: load the page again`));
      document.head.append(tag);
    });

  /** Call the panel of this kind, which comes with the first press. */
  async function panel(kind, ...given) {
    coming ??= script("runner.js").then(() => script("panels.js"));
    await coming;
    if (!globalThis.ropePanels[kind]) await script(`${kind}_panel.js`);
    return globalThis.ropePanels[kind](...given);
  }

  function make(kind, properties = {}, ...children) {
    const element = Object.assign(document.createElement(kind), properties);
    element.append(...children);
    return element;
  }

  function button(words, press, once = false) {
    const made = make("button", { type: "button", textContent: words });
    made.addEventListener("click", press, { once });
    return made;
  }

  /** A bar with a button that hands the bar over. */
  function bar(words, kind, ...given) {
    const status = make("span", { className: "live-status", role: "status" });
    const made = make("div", { className: "live-bar" });
    made.append(
      button(
        words,
        () => {
          panel(kind, made, ...given).catch((error) => {
            coming = null;
            status.textContent = error.message;
          });
        },
        true,
      ),
      status,
    );
    return made;
  }

  const lab = () => (dataset.lab ? [" ", make("a", { href: dataset.lab, textContent: "Open the lab" })] : []);
  for (const cell of document.querySelectorAll("div.cell[class*='live-']")) {
    const index = /\blive-(\d+)\b/.exec(cell.className)?.[1];
    if (index) cell.append(bar("Run", "cell", cell, dataset.page, Number(index)));
    else {
      const why = cell.classList.contains("live-no-torch")
        ? "This cell needs PyTorch."
        : "This cell needs one that does not run here.";
      cell.append(make("div", { className: "live-bar live-no" }, why, ...lab()));
    }
  }

  const never = new Set(dataset.never.split(" "));
  for (const task of document.querySelectorAll("div.task[id]")) {
    if (!never.has(task.id)) task.querySelector(".task-mistakes")?.before(bar("Answer it here", "task", task));
  }
  const offer = (element, id) => {
    const name = /^(?:card-)?claim-(.+)/.exec(id)?.[1];
    if (!name || never.has(name) || element.querySelector(".live-bar")) return;
    const run = bar("Run this check", "check", name),
      facts = element.querySelector(":scope > dl"); // below them a phone's card may end before the button
    facts ? facts.before(run) : element.append(run);
  };
  document.addEventListener("mark-card", ({ target }) => {
    for (const entry of target.querySelectorAll(".mark-entry[data-entry]")) offer(entry, entry.dataset.entry);
  });
  const entries = [...document.querySelectorAll("details.ledger-entry")];
  for (const entry of entries) entry.addEventListener("filled", () => offer(entry, entry.id));
  if (dataset.all) document.querySelector("#ledger-filter")?.after(bar(`Run all ${dataset.all} checks here`, "ledger"));
  return { make, button };
})();
