/* A formula in a sentence that is wider than its column scrolls in a box of its own: MathJax 3 does not break it. */
{
  const block = "p, li, dd, dt, td, th, h1, h2, h3, h4, figcaption, summary, label, div";
  const mark = () => {
    const formulas = [...document.querySelectorAll("mjx-container:not([display])")];
    formulas.forEach((formula) => formula.classList.remove("wide"));
    formulas
      .filter((formula) => formula.getBoundingClientRect().width > formula.closest(block).clientWidth)
      .forEach((formula) => formula.classList.add("wide"));
  };
  /* A full stop stays on the line of the formula before it: MathJax sets a box, and a browser may break after a box. */
  const keepStops = () => {
    for (const { parentElement: formula } of document.querySelectorAll("span.math > mjx-container")) {
      const after = formula.nextSibling;
      const stop = after?.nodeType === Node.TEXT_NODE && after.data.match(/^[.,;:?!)\]]+/)?.[0];
      if (!stop) continue;
      after.deleteData(0, stop.length);
      const kept = document.createElement("span");
      kept.style.whiteSpace = "nowrap";
      formula.before(kept);
      kept.append(formula, stop);
    }
  };
  addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    keepStops();
    mark();
    addEventListener("resize", mark);
  });
  addEventListener("toggle", mark, true); // what is folded has no width until it is opened
}
