/** Paper is white: a page that is read in the dark theme is printed in the light one. */
{
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => {
    theme = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => {
    page.theme = theme;
  });
}

/** A date stays on one line: Chromium would cut it at its hyphens. */
addEventListener(
  "beforeprint",
  () => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      if (text.parentElement.closest("pre, script, style, svg")) continue;
      for (const [date] of text.data.matchAll(/\b\d{4}-\d\d(?:-\d\d)?\b/g)) {
        const whole = document.createElement("span");
        whole.className = "paper-whole";
        whole.textContent = date;
        const at = text.data.indexOf(date);
        text.before(text.data.slice(0, at), whole);
        text.data = text.data.slice(at + date.length);
      }
    }
  },
  { once: true },
);
