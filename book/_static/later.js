/* Mathematics that waits until a reader sees it: formulas of the class math-later are handed to MathJax once. Those that
   are asked for together are drawn together. A classic script: modules do not load from file://. */
(() => {
  "use strict";
  let waiting = [],
    drawing = null;

  async function draw() {
    await new Promise((done) => {
      setTimeout(done);
    });
    const formulas = waiting,
      { startup } = window.MathJax;
    [waiting, drawing] = [[], null];
    startup.promise = startup.promise.then(() => window.MathJax.typesetPromise(formulas));
    await startup.promise;
    dispatchEvent(new Event("resize")); // theme_fixes.js then boxes the formulas that are too wide
  }

  /** Typeset what waits in these elements; the promise is kept when it is done. */
  window.typesetLater = (...places) => {
    const formulas = places.flatMap((place) => [...place.querySelectorAll(".math-later")]);
    if (formulas.length && window.MathJax?.startup) {
      for (const formula of formulas) formula.classList.replace("math-later", "math");
      waiting.push(...formulas);
      drawing ??= draw();
    }
    return drawing;
  };
})();
