/* Typesets TeX for mathematics.py, with MathJax, in Node: one question a line on stdin, one answer a line on stdout, both
   JSON. {tex, display, letters} is answered by {html} or by {error}, "css" by the styles of all glyphs. */
const { createInterface } = require("node:readline");
const root = process.argv[2]; // the folder of MathJax

// What MathJax writes and no page needs: a name space that HTML implies, notes to itself, what the styles say once.
const SPARE =
  / (?:class="(?:MathJax" jax="CHTML| MJX-TEX)"|style="position: relative;"|unselectable="on"|xmlns="[^"]*"|data-mjx-[a-z]+="[^"]*"|display="inline")/g;
const brief = (text) =>
  text
    .replaceAll(/\bmjx-(?=c[0-9A-F])/g, "")
    .replaceAll("mjx-container", "m-tex")
    .replaceAll("mjx-assistive-mml", "m-heard")
    .replaceAll(".MJX-TEX", "m-math")
    .replaceAll(/\bmjx-/g, "m-")
    .replaceAll(/\bTEX-(?=[A-Z])/g, "");
// A page has thousands of glyphs, and a style for each index.
const STYLE = /(?<= style=")[^"]*/g;
const terse = (style) =>
  style
    .replaceAll(/([:;]) /g, "$1")
    .replaceAll(/(?<![\d.])0(?=\.)/g, "")
    .replace(/;$/, "");
// In the formula that is heard, what only moves its parts about, and the inks.
const SPACE = /<mstyle scriptlevel="0"><mspace width="[^"]*"><\/mspace><\/mstyle>/g;
const HEARD = /<m-heard.*<\/m-heard>/s;
const MOVES = / (?:stretchy|accent|fence|separator|largeop|movablelimits|class)="[^"]*"/g;
const ONE = /<mrow>(<(m[ino])[ >][^<]*<\/\2>)<\/mrow>/g; // a row of one is that one
const short = (html) =>
  brief(html.replaceAll(SPARE, ""))
    .replaceAll(STYLE, terse)
    .replace(HEARD, (heard) => heard.replaceAll(SPACE, "").replaceAll(MOVES, "").replaceAll(ONE, "$1"));

// Of the formula that is drawn, boxes that hold their contents and do nothing else: each is an inline block, as is what
// it holds, and lines have no height, so that without it all stands where it stood. A box of one glyph leaves it its
// attributes. The boxes around may be such boxes, or others that set their contents on a line.
const BOXES = new Set(
  "mjx-mi mjx-mo mjx-mn mjx-mtext mjx-mrow mjx-inferredMrow mjx-TeXAtom mjx-mstyle mjx-msub mjx-msup mjx-msubsup".split(
    " ",
  ),
);
const LINES = new Set([
  ...BOXES,
  ..."mjx-math mjx-script mjx-num mjx-den mjx-over mjx-under mjx-base mjx-box mjx-surd mjx-mtd".split(" "),
]);
const NO_RULE = /\bmjx-[a-z-]+ ?/g; // classes that the styles do not know
const UNSEEN = /^mjx-c206[1-4]$/; // function application, invisible times: no ink, no width
const OFFSET = "vertical-align: -0.15em;"; // of an index without a power

const sized = (element, adaptor) =>
  adaptor.hasAttribute(element, "size") || /font-size/.test(adaptor.getAttribute(element, "style"));

function lighten(node, adaptor) {
  const inside = () => adaptor.childNodes(node).filter((child) => adaptor.kind(child) !== "#text");
  for (const child of inside()) lighten(child, adaptor);
  for (const child of inside()) {
    adaptor.removeAttribute(child, "texclass");
    const kind = adaptor.kind(child);
    const named = adaptor.getAttribute(child, "class") ?? "";
    if (kind === "mjx-c" && UNSEEN.test(named)) adaptor.remove(child);
    if (!BOXES.has(kind) || !LINES.has(adaptor.kind(node))) continue;
    const worn = named.replace(NO_RULE, "");
    if (worn) adaptor.setAttribute(child, "class", worn);
    else adaptor.removeAttribute(child, "class");
    unbox(child, adaptor);
  }
  if (adaptor.kind(node) !== "mjx-script") return;
  // What stands in an index is small unless it says otherwise, and an index stands where most do: so says formulas.css.
  const style = adaptor.getAttribute(node, "style") ?? "";
  if (style.includes(OFFSET)) adaptor.setAttribute(node, "style", style.replace(OFFSET, "").trim());
  else if (!style.includes("vertical-align")) adaptor.setAttribute(node, "style", `vertical-align: 0; ${style}`);
  if (!adaptor.getAttribute(node, "style")) adaptor.removeAttribute(node, "style");
  for (const child of inside()) {
    if (adaptor.kind(child) === "mjx-spacer") continue;
    if (!adaptor.hasAttribute(child, "size")) adaptor.setAttribute(child, "size", "n");
    else if (adaptor.getAttribute(child, "size") === "s") adaptor.removeAttribute(child, "size");
    const parts = adaptor.childNodes(child);
    if (BOXES.has(adaptor.kind(child)) && !parts.some((part) => sized(part, adaptor))) unbox(child, adaptor);
  }
}

/** Replace a box by what it holds, if that is all it does. */
function unbox(box, adaptor) {
  const own = adaptor.allAttributes(box);
  const parts = adaptor.childNodes(box);
  if (own.length) {
    if (parts.length !== 1 || adaptor.kind(parts[0]) !== "mjx-c") return;
    if (own.some(({ name }) => name !== "class" && adaptor.hasAttribute(parts[0], name))) return;
    if (sized(box, adaptor) && sized(parts[0], adaptor)) return;
    for (const { name, value } of own) {
      const before = name === "class" ? `${adaptor.getAttribute(parts[0], "class")} ` : "";
      adaptor.setAttribute(parts[0], name, before + value);
    }
  }
  for (const part of [...parts]) adaptor.insert(part, box);
  adaptor.remove(box);
}

// The letters of queries, keys, values and outputs wear their colours: where they have an index of position, component,
// part or head; on a page that says which letters it means so (`letters`), those and no others, also bare. The same letters in
// an index, or upright, are something else.
const ROLES = { q: "rope-query", k: "rope-key", v: "rope-value", o: "rope-output" };
const INDEX = /^[mnijrst0-9]/;

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
      const next = text(node.childNodes[at + 1] ?? node); // k + 2 and k! are numbers
      const counts = next === "!" || (/^[+−]$/.test(next) && node.childNodes[at + 2]?.isKind("mn"));
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
      const formula = MathJax.tex2chtml(question.tex, { display: question.display });
      lighten(adaptor.firstChild(formula), adaptor); // what is heard stands after it
      return { html: short(adaptor.outerHTML(formula)) };
    } catch (error) {
      return { error: error.message };
    }
  }
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
  }
}
main();
