/* Typesets TeX for mathematics.py, with MathJax, in Node: one question a line on stdin, one answer a line on stdout, both
   JSON. {tex, display} is answered by {html} or by {error}, "css" by the styles of all glyphs. */
const { createInterface } = require("node:readline");
const root = process.argv[2]; // the folder of MathJax

// What MathJax writes and no page needs: a name space that HTML implies, notes to itself, what mathematics.css says once.
const SPARE =
  / (?:class="MathJax" jax="CHTML"|style="position: relative;"|unselectable="on"|xmlns="[^"]*"|data-mjx-[a-z]+="[^"]*")/g;

async function main() {
  const { startup, ...MathJax } = await require(`${root}/node-main.js`).init({
    loader: {
      load: [
        "input/tex-base",
        "output/chtml",
        "a11y/assistive-mml",
        ...["ams", "boldsymbol", "cancel"].map((x) => `[tex]/${x}`),
      ],
      paths: { mathjax: root },
    },
    tex: {
      packages: ["base", "ams", "boldsymbol", "cancel"], // none that swallows an error
      formatError: (_, error) => {
        throw error;
      },
    },
    chtml: { adaptiveCSS: false, matchFontHeight: false, fontURL: "mathematics" },
    startup: { typeset: false },
  });
  const { adaptor, document } = startup;

  function answer(question) {
    if (question === "css") {
      return { css: adaptor.textContent(document.outputJax.styleSheet(document)).replaceAll('[jax="CHTML"]', "") };
    }
    try {
      const html = adaptor.outerHTML(MathJax.tex2chtml(question.tex, { display: question.display }));
      return { html: html.replaceAll(SPARE, "") };
    } catch (error) {
      return { error: error.message };
    }
  }
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
  }
}
main();
