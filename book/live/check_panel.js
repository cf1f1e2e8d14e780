/* A claim: what its check says here, and the candidate, which can be changed. */
(() => {
  const live = globalThis.ropeLive;
  const { make, button } = globalThis.ropeButtons;
  const { busy, editor } = globalThis.ropePanels;

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

  globalThis.ropePanels.check = (bar, id) => {
    const out = make("div", { className: "live-output", hidden: true });
    const field = editor("The candidate, Python", () => own());
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
      const card = bar.closest(".mark-card"), // it is short: what came out begins at its top
        top = (element) => element.getBoundingClientRect().top;
      if (card) setTimeout(() => card.scrollBy(0, top(bar) - top(card) - 8));
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
  };
})();
