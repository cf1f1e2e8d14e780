/* What the panels share: a bar while something runs, a field for Python. Loaded with the first press of a button; the panel of
   each kind comes when it is needed. Nothing that Python sends is taken for markup but tables (cell_panel.js). */
globalThis.ropePanels = (() => {
  const live = globalThis.ropeLive;
  const { make, button } = globalThis.ropeButtons;
  const text = (element) => element.textContent.replace(/\u200b/g, "").replace(/\n$/, "");

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

  /** A field for Python: Shift and Enter run it, Enter keeps the indentation. */
  function editor(words, run) {
    const field = make("textarea", { className: "live-code", spellcheck: false, autocapitalize: "off", wrap: "off" });
    field.setAttribute("aria-label", `${words}; Shift and Enter run it`);
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      if (event.shiftKey || event.ctrlKey || event.metaKey) {
        run();
        return;
      }
      const line = field.value.slice(0, field.selectionStart).split("\n").at(-1);
      const deeper = line.trimEnd().endsWith(":") ? "    " : "";
      document.execCommand("insertText", false, `\n${/^\s*/.exec(line)[0]}${deeper}`); // this way one can undo it
    });
    return field;
  }

  return { text, busy, editor };
})();
