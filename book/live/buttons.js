/* A button below each cell that runs in the page, in each card and entry of a claim, and above the ledger. That is all that
   a page loads of its Python; the rest comes when one of them is pressed. A classic script: modules do not load from file://. */
(() => {
  const { dataset, src } = document.currentScript;
  const root = src.replace(/[^/]*$/, "");
  let coming;

  /** Call a function of panels.js, which comes with the first press. */
  async function panels(name, ...given) {
    coming ??= ["runner.js", "panels.js"].reduce(
      (before, file) =>
        before.then(
          () =>
            new Promise((resolve, reject) => {
              const script = Object.assign(document.createElement("script"), { src: root + file, onload: resolve });
              script.onerror = () => reject(new Error(`${file} is missing: load the page again`));
              document.head.append(script);
            }),
        ),
      Promise.resolve(),
    );
    await coming;
    return globalThis.ropePanels[name](...given);
  }

  function make(kind, properties = {}, ...children) {
    const element = Object.assign(document.createElement(kind), properties);
    element.append(...children);
    return element;
  }

  function button(words, press) {
    const made = make("button", { type: "button", textContent: words });
    made.addEventListener("click", press, { once: true });
    return made;
  }

  /** A bar with a button that hands the bar over. */
  function bar(words, name, ...given) {
    const status = make("span", { className: "live-status", role: "status" });
    const made = make("div", { className: "live-bar" });
    made.append(
      button(words, () => {
        panels(name, made, ...given).catch((error) => {
          coming = null;
          status.textContent = error.message;
        });
      }),
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
  const offer = (element, id) => {
    const name = /^(?:card-)?claim-(.+)/.exec(id)?.[1];
    if (name && !never.has(name) && !element.querySelector(".live-bar"))
      element.append(bar("Run this check", "check", name));
  };
  document.addEventListener("mark-card", ({ target }) => {
    for (const entry of target.querySelectorAll(".mark-entry[data-entry]")) offer(entry, entry.dataset.entry);
  });
  const entries = [...document.querySelectorAll("details.ledger-entry")];
  for (const entry of entries) entry.addEventListener("filled", () => offer(entry, entry.id));
  if (dataset.all) document.querySelector("#ledger-filter")?.after(bar(`Run all ${dataset.all} checks here`, "all"));
})();
