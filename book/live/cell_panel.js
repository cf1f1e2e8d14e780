/* A cell of the page: its code, which can be edited; its output, and whether that is what the build printed. */
(() => {
  const live = globalThis.ropeLive;
  const { make, button } = globalThis.ropeButtons;
  const { text, busy, editor } = globalThis.ropePanels;

  const KEPT = "TABLE THEAD TBODY TFOOT TR TH TD CAPTION DIV P SPAN B STRONG I EM CODE SUB SUP BR".split(" ");
  /** A table that Python sends, without anything that could run or load. */
  function table(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html").body;
    const copy = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return [node.textContent];
      if (node.nodeType !== Node.ELEMENT_NODE || ["SCRIPT", "STYLE", "TEMPLATE"].includes(node.nodeName)) return [];
      const inner = [...node.childNodes].flatMap(copy);
      if (!KEPT.includes(node.nodeName)) return inner;
      const element = make(node.nodeName, {}, ...inner);
      for (const name of ["colspan", "rowspan", "scope"])
        if (node.hasAttribute(name)) element.setAttribute(name, node.getAttribute(name));
      return [element];
    };
    return make("div", { className: "live-table" }, ...[...parsed.childNodes].flatMap(copy));
  }

  /** A figure as a picture: nothing in it runs. */
  const figure = (svg) =>
    make("img", {
      className: "live-figure",
      alt: "The figure that the cell drew",
      src: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })),
    });

  const cells = new Map(); // of the page: index -> its code
  function seen() {
    for (const cell of document.querySelectorAll("div.cell[class*='live-']")) {
      const index = /\blive-(\d+)\b/.exec(cell.className)?.[1];
      const code = cell.querySelector(".cell_input pre");
      if (index && !cells.has(Number(index))) {
        const own = { code, run: () => {} };
        own.field = editor("The code of this cell", () => own.run());
        cells.set(Number(index), own);
      }
    }
  }
  const texts = () =>
    Object.fromEntries(
      [...cells].map(([index, { code, field }]) => [index, field.isConnected ? field.value : text(code)]),
    );

  globalThis.ropePanels.cell = (bar, holder, page, index) => {
    seen();
    const { code, field } = cells.get(index);
    const status = bar.querySelector(".live-status");
    const out = make("div", { className: "live-output", hidden: true });
    out.setAttribute("role", "group");
    out.setAttribute("aria-label", "Output of your run");
    const printed = make("pre", { tabIndex: 0 });
    const built = [...holder.querySelectorAll(".cell_output .output pre")].map(text).join("\n");
    const run = () =>
      busy(bar, async (tell) => {
        const shown = [];
        out.hidden = true;
        const found = await live.cell(page, index, texts(), tell, (words) => {
          printed.textContent = words;
          out.replaceChildren(printed);
          out.hidden = !words;
        });
        let words = found.printed;
        for (const [kind, value] of found.shown ?? []) {
          if (kind === "text/plain") words += `${value}\n`;
          else shown.push(kind === "text/html" ? table(value) : figure(value));
        }
        printed.textContent = words.replace(/\n$/, "");
        out.replaceChildren(...(words ? [printed] : []), ...shown);
        if (found.error) out.append(make("pre", { className: "live-error", textContent: found.error, tabIndex: 0 }));
        out.hidden = !out.childElementCount;
        bar.dataset.verdict = verdict(found, words, built);
        tell(WORDS[bar.dataset.verdict]);
      });
    const edit = button("Edit", () => {
      field.value = text(code);
      field.rows = field.value.split("\n").length + 1;
      code.hidden = true;
      code.after(field);
      code.closest("details")?.setAttribute("open", "");
      edit.hidden = true;
      reset.hidden = false;
      field.focus();
    });
    const reset = button("Reset", () => {
      field.remove();
      code.hidden = reset.hidden = edit.hidden = false;
      reset.hidden = true;
      status.textContent = "";
      delete bar.dataset.verdict;
      edit.focus();
    });
    reset.hidden = true;
    cells.get(index).run = run;
    bar.querySelector("button").replaceWith(button("Run", run), edit, reset);
    bar.after(out);
    return run();
  };

  const WORDS = {
    error: "It ends with an error.",
    edited: "Your own text: there is nothing to compare it with.",
    same: "The same as printed above.",
    differs: "It differs from what is printed above.",
    silent: "It ran, and prints nothing.",
  };
  function verdict(found, words, built) {
    if (found.error) return "error";
    if (found.edited) return "edited";
    if (!words.trim() && !built.trim()) return "silent";
    return live.same(words, built) ? "same" : "differs";
  }
})();
