/* What a reader sees of a run: a cell's output and whether it is what the build printed, a check with its control, the whole
   ledger with a bar. Loaded with the first press of a button. Nothing that Python sends is taken for markup but tables,
   of which only the elements named here stay. */
globalThis.ropePanels = (() => {
  const live = globalThis.ropeLive;
  const text = (element) => element.textContent.replace(/\u200b/g, "").replace(/\n$/, "");

  function make(kind, properties = {}, ...children) {
    const element = Object.assign(document.createElement(kind), properties);
    element.append(...children);
    return element;
  }

  function button(words, press) {
    const made = make("button", { type: "button", textContent: words });
    made.addEventListener("click", press);
    return made;
  }

  /** While something runs its buttons rest, but for Stop. */
  async function busy(bar, work) {
    const status = bar.querySelector(".live-status");
    const others = [...bar.querySelectorAll("button")];
    const end = button("Stop", () => live.stop());
    const focused = others.includes(document.activeElement) ? document.activeElement : null;
    for (const one of others) one.disabled = true;
    status.before(end);
    if (focused) end.focus({ preventScroll: true });
    bar.dataset.state = "runs";
    let over = false; // what still loads says nothing more
    try {
      await work((words) => {
        if (!over && status.textContent !== words) status.textContent = words;
      });
    } catch (error) {
      status.textContent = error.message;
      bar.dataset.state = "stopped";
    }
    over = true;
    for (const one of others) one.disabled = false;
    if (end === document.activeElement) focused?.focus({ preventScroll: true });
    end.remove();
    if (bar.dataset.state === "runs") bar.dataset.state = "done";
  }

  // --- cells ---------------------------------------------------------------------------------------------------------

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
        const field = make("textarea", { className: "live-code", spellcheck: false, wrap: "off" });
        field.setAttribute("aria-label", "The code of this cell; Shift and Enter run it");
        cells.set(Number(index), { code, field });
      }
    }
  }
  const texts = () =>
    Object.fromEntries(
      [...cells].map(([index, { code, field }]) => [index, field.isConnected ? field.value : text(code)]),
    );

  function cell(bar, holder, page, index) {
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
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      run();
    });
    bar.querySelector("button").replaceWith(button("Run", run), edit, reset);
    bar.after(out);
    return run();
  }

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

  // --- claims --------------------------------------------------------------------------------------------------------

  const short = (number) =>
    number === null ? "" : Number(number).toExponential(0).replace("e-", "e−").replace("e+", "e");
  /** What came out, a sentence each. */
  function sentences(found) {
    const said = [];
    const { outcome, residual, tolerance, control_rejected: control, control_residual: far } = found;
    if (outcome === "holds")
      said.push(
        residual === null ? "It holds." : `It holds: off by ${short(residual)}, allowed are ${short(tolerance)}.`,
      );
    else if (outcome === "fails")
      said.push(
        residual === null
          ? "The check rejects it."
          : `The check rejects it: off by ${short(residual)}, allowed are ${short(tolerance)}.`,
      );
    else said.push(`The runs say: ${outcome}.`);
    if (found.error) said.push(found.error);
    if (control === true)
      said.push(
        far === null
          ? "The control, a wrong one, is rejected."
          : `The control, a wrong one, is rejected: off by ${short(far)}.`,
      );
    if (control === false) said.push("The control is accepted: this check is worth nothing.");
    if (found.printed_rejected) said.push("What the source prints is rejected.");
    if (found.witness && outcome !== "fails") said.push("The numbers of its witness are computed again.");
    return said;
  }

  function check(bar, id) {
    const out = make("div", { className: "live-output", hidden: true });
    const field = make("textarea", { spellcheck: false, rows: 3 });
    field.setAttribute("aria-label", "The candidate, Python");
    const show = (found) => {
      const said =
        found.error && !found.outcome ? [make("pre", { className: "live-error", textContent: found.error })] : [];
      out
        .querySelector(".live-said")
        .replaceChildren(
          ...said,
          ...(found.outcome ? sentences(found).map((words) => make("p", { textContent: words })) : []),
        );
      out.hidden = false;
      bar.dataset.verdict = found.outcome ?? "error";
    };
    out.append(make("div", { className: "live-said", role: "status" }));
    const own = () =>
      busy(second, async (tell) => {
        tell("");
        const found = await live.check(id, field.value, tell);
        tell("");
        show(found);
      });
    const second = make(
      "div",
      { className: "live-bar" },
      button("Ask the check", own),
      make("span", { className: "live-status", role: "status" }),
    );
    const run = () =>
      busy(bar, async (tell) => {
        const found = await live.check(id, null, tell);
        tell("");
        show(found);
        const { holds, control } = found.texts ?? {};
        if (!holds || out.contains(field)) return;
        field.value = holds;
        field.rows = Math.min(8, holds.split("\n").length + 1);
        const put = (words, value) =>
          button(words, () => {
            field.value = value;
            own();
          });
        second.firstChild.after(
          ...(control ? [put("Put the wrong one in", control)] : []),
          put("Put the right one back", holds),
        );
        out.append(
          make("p", { textContent: "The candidate that the check was asked about. Change it:" }),
          field,
          second,
        );
      });
    bar.querySelector("button").replaceWith(button("Run this check", run));
    bar.after(out);
    return run();
  }

  // --- the whole ledger ----------------------------------------------------------------------------------------------

  const KEY = "rope-lab:ledger-here";
  /** Claim -> whether it came out as it should: what has run stays when one stops, and as long as the tab. */
  function kept(mark) {
    try {
      const found = JSON.parse(sessionStorage.getItem(KEY));
      return new Map(found?.mark === mark ? found.done : []);
    } catch {
      return new Map(); // a private window forgets
    }
  }
  function keep(mark, done) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify({ mark, done: [...done] }));
    } catch {
      /* a private window forgets */
    }
  }

  async function all(bar) {
    const { claims, mark } = await live.known();
    const waiting = Object.keys(claims).filter((id) => !claims[id].why && document.getElementById(`claim-${id}`));
    const done = kept(mark);
    const meter = make("progress", { max: waiting.length });
    meter.setAttribute("aria-label", "Checks that have run");
    bar.querySelector(".live-status").before(meter);
    const show = () => {
      meter.value = done.size;
      for (const [id, good] of done) document.getElementById(`claim-${id}`).dataset.ran = good ? "yes" : "no";
    };
    const run = () =>
      busy(bar, async (tell) => {
        if (done.size === waiting.length) done.clear();
        const begin = performance.now();
        const first = done.size;
        for (const id of waiting.filter((id) => !done.has(id))) {
          const found = await live.check(id, null, done.size > first ? () => {} : tell);
          done.set(id, Boolean(found.outcome && !found.failed));
          show();
          keep(mark, done);
          if (done.size % 10 === 0 || done.size === first + 1) tell(`${done.size} of ${waiting.length}`);
        }
        const bad = [...done].filter(([, good]) => !good).map(([id]) => claims[id].id);
        const seconds = Math.round((performance.now() - begin) / 1000);
        tell(
          bad.length
            ? `${bad.length} of ${done.size} do not come out as the book says: ${bad.join(", ")}.`
            : `All ${done.size} came out as the book says, and the check of each rejected its control. It took ${seconds} seconds here.`,
        );
      });
    show();
    const old = bar.querySelector("button");
    old.replaceWith(button(old.textContent, run));
    return run();
  }

  return { cell, check, all };
})();
