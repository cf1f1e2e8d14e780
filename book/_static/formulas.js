/* A formula in a sentence that is wider than its column scrolls in a box of its own: MathJax does not break it. What
   scrolls can be reached with the keyboard. Copied text has a formula's TeX: its glyphs are drawn by the style sheet, and are no text. */
{
  const block =
    "p, li, dd, dt, td, th, h1, h2, h3, h4, figcaption, summary, label, div, .ledger-entry > summary > .ledger-sentence";
  const mark = () => {
    const formulas = [...document.querySelectorAll("m-tex:not([display])")];
    formulas.forEach((formula) => formula.classList.remove("wide"));
    formulas
      .filter((formula) => formula.getBoundingClientRect().width > formula.closest(block).clientWidth)
      .forEach((formula) => formula.classList.add("wide"));
    const boxes = [...document.querySelectorAll("div.math, m-tex")];
    // All are measured before the first is changed: the page is laid out once, and not once for each formula.
    const scrolls = boxes.map((box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto");
    for (const [i, box] of boxes.entries()) {
      if (scrolls[i]) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  let due = false;
  const soon = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      mark();
    });
  };
  addEventListener("load", mark);
  addEventListener("resize", mark);
  addEventListener("toggle", soon, true); // what is folded has no width until it is opened; many may open at once

  addEventListener("copy", (event) => {
    const selection = getSelection();
    if (!selection.rangeCount) return;
    const copied = selection.getRangeAt(0).cloneContents();
    const formulas = copied.querySelectorAll(".math[data-tex]");
    if (!formulas.length) return;
    for (const formula of formulas) {
      const sign = formula.matches("div") ? "$$" : "$";
      formula.textContent = sign + formula.dataset.tex + sign;
    }
    const html = document.createElement("div");
    html.append(copied);
    event.clipboardData.setData("text/html", html.innerHTML);
    // Laid out, so that paragraphs and list items stand on lines of their own.
    html.style.cssText = "position: fixed; left: -200vw; white-space: pre-line";
    document.body.append(html);
    // biome-ignore lint/performance/useDomNodeTextContent: its lines are those that a reader sees
    event.clipboardData.setData("text/plain", html.innerText);
    html.remove();
    event.preventDefault();
  });
}
