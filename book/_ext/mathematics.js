/* Typesets TeX for mathematics.py, with MathJax, in Node: one question a line on stdin, one answer a line on stdout, both
   JSON. {tex, display, letters} is answered by {html} or by {error}, "css" by the styles of all glyphs. */
const { createInterface } = require("node:readline");
const root = process.argv[2]; // the folder of MathJax

// What MathJax writes and no page needs: a name space that HTML implies, notes to itself, classes that no rule of
// its styles has, what mathematics.css says once.
const SPARE =
  / (?:class="(?:MathJax" jax="CHTML|mjx-[in])"|texclass="[^"]*"|style="position: relative;"|unselectable="on"|xmlns="[^"]*"|data-mjx-[a-z]+="[^"]*"|display="inline")/g;
const brief = (text) =>
  text
    .replaceAll(/\bmjx-c(?=[0-9A-F])/g, "c")
    .replaceAll(/\bmjx-(?=(?:c|mi|mo|mn|script|TeXAtom)(?![-\w]))/g, "m-")
    .replaceAll("mjx-assistive-mml", "m-heard")
    .replaceAll(".MJX-TEX", "mjx-math");
// A page has thousands of glyphs, and a style for each index.
const STYLE = /(?<= style=")[^"]*/g;
const terse = (style) =>
  style
    .replaceAll(/([:;]) /g, "$1")
    .replaceAll(/(?<![\d.])0(?=\.)/g, "")
    .replace(/;$/, "");
// In the formula that is heard, what only moves its parts about.
const SPACE = /<mstyle scriptlevel="0"><mspace width="[^"]*"><\/mspace><\/mstyle>/g;
const HEARD = /<m-heard.*<\/m-heard>/s;
const MOVES = / (?:stretchy|accent|fence|separator|largeop|movablelimits)="[^"]*"/g;
const short = (html) =>
  brief(html)
    .replaceAll(' class=" MJX-TEX"', "")
    .replaceAll(STYLE, terse)
    .replace(HEARD, (heard) => heard.replaceAll(SPACE, "").replaceAll(MOVES, ""));

// The letters of queries, keys, values and outputs wear their colours: where they have an index of position, component or
// head; on a page that says which letters it means so (`letters`), those and no others, also bare. The same letters in
// an index, or upright, are something else.
const ROLES = { q: "rope-query", k: "rope-key", v: "rope-value", o: "rope-output" };
const INDEX = /^[mnijst0-9]/;

const text = (node) =>
  node.isToken ? node.getText() : node.childNodes.map((child) => (child ? text(child) : "")).join("");

function colour(node, letters, indexed = false) {
  if (!node) return;
  const [base, ...scripts] = node.childNodes;
  if (node.isKind("mi") && node.attributes.get("mathvariant") !== "normal") {
    const letter = node.getText();
    if (ROLES[letter] && (letters ? letters.includes(letter) : indexed)) node.attributes.set("class", ROLES[letter]);
  } else if (node.isKind("msub") || node.isKind("msubsup")) {
    colour(base, letters, INDEX.test(text(scripts[0])));
  } else if (["msup", "mover", "munder", "munderover"].some((kind) => node.isKind(kind))) {
    colour(base, letters, indexed);
  } else if (!node.isToken) {
    const alone = node.childNodes.length === 1;
    for (const [at, child] of node.childNodes.entries()) {
      // k + 2 is a number
      const counts = /^[+−]$/.test(text(node.childNodes[at + 1] ?? node)) && node.childNodes[at + 2]?.isKind("mn");
      if (!counts) colour(child, letters, alone && indexed);
    }
  }
}

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
  let letters = "";
  document.inputJax[0].postFilters.add(({ data }) => colour(data.root, letters));

  function answer(question) {
    if (question === "css") {
      const css = adaptor.textContent(document.outputJax.styleSheet(document));
      return { css: brief(css.replaceAll('[jax="CHTML"]', "")) };
    }
    try {
      letters = question.letters;
      const html = adaptor.outerHTML(MathJax.tex2chtml(question.tex, { display: question.display }));
      return { html: short(html.replaceAll(SPARE, "")) };
    } catch (error) {
      return { error: error.message };
    }
  }
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
  }
}
main();
