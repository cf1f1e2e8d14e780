/* The half of the checks that looks at the page from inside. Each returns what is wrong, as a list of sentences. */
window.siteChecks = (() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const start = (text, length = 120) => (text ?? "").trim().slice(0, length);

  // When the first widget stood there, in milliseconds since the visit began.
  new MutationObserver((_, self) => {
    if (!document.querySelector(".rope-widget[data-ready]")) return;
    window.firstWidgetAt = performance.now();
    self.disconnect();
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ready"] });

  /** Let so many pictures be drawn. Frames and not milliseconds: a busy machine draws fewer. */
  async function frames(count) {
    for (let i = 0; i < count; i++) await new Promise(requestAnimationFrame);
  }

  const idle = () => new Promise((done) => requestIdleCallback(done));

  const started = () => all(".rope-widget").every((widget) => widget.dataset.ready || widget.role === "alert");

  /** Where the question of a chapter ends and the prompt of its first form begins, in a window that was not scrolled. */
  async function firstScreen() {
    await document.fonts.ready;
    const box = (selector) => document.querySelector(selector)?.getBoundingClientRect();
    return { question: box("p.question")?.bottom ?? null, prompt: box("form.quiz .quiz-prompt")?.top ?? null };
  }

  /** Wait for fonts, and open what is folded, so that the checks see it. */
  async function settle() {
    all("details").forEach((fold) => {
      fold.open = true;
    });
    all(".toggle-button-hidden").forEach((button) => button.click());
    await frames(2); // whoever listens for a fold that opens
    await document.fonts.ready;
    await frames(2); // and who waits for the next picture
  }

  /** The widgets stand, opened entries of the ledger are filled, and what scrolls can be reached with the keyboard. */
  function rested() {
    const scrolls = (box) => box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";
    return (
      started() &&
      document.fonts.status === "loaded" &&
      !document.querySelector(".ledger-entry[open] a[href='ledger.md']") &&
      all("m-tex.wide").every((box) => box.tabIndex === 0 || !scrolls(box))
    );
  }

  /** Wait until nothing moves from picture to picture (a smooth scroll does in each), and nothing is left to do. */
  async function still() {
    for (let last = "", quiet = 0; quiet < 6 || !rested(); ) {
      await frames(1);
      const now = `${scrollY} of ${document.documentElement.scrollHeight}`;
      quiet = now === last ? quiet + 1 : 0;
      last = now;
    }
    await idle();
  }

  /** The sum of the layout shifts so far. */
  async function shift() {
    let sum = 0;
    const add = (entries) => {
      for (const { hadRecentInput, value } of entries) if (!hadRecentInput) sum += value;
    };
    const watch = new PerformanceObserver((list) => add(list.getEntries()));
    watch.observe({ type: "layout-shift", buffered: true });
    await frames(2);
    await idle();
    add(watch.takeRecords());
    watch.disconnect();
    return sum;
  }

  /** Dollar signs and TeX brackets that a reader sees outside code: mathematics that nobody parsed. */
  function literalTex() {
    const skipped = "code, pre, script, style, m-tex, textarea, noscript, math",
      found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { data, parentElement } = walker.currentNode;
      if (/\$|\\[()[\]]/.test(data) && !parentElement.closest(skipped)) found.push(`literal TeX: ${start(data)}`);
    }
    return found;
  }

  /** Formulas that the build left alone, or that MathJax could not read; it writes a macro it does not know in red. */
  function unsetMathematics() {
    const set = (math) => !math.textContent.trim() || math.closest("pre, code") || math.querySelector("m-tex");
    const refused = all('m-merror, m-mtext[style*="color: red"]');
    return [
      ...all(".math")
        .filter((math) => !set(math))
        .map((math) => `not typeset: ${start(math.textContent)}`),
      ...refused.map((node) => `MathJax: ${node.dataset.mjxError ?? node.textContent}`),
    ];
  }

  /** A page wider than its window, or content that is cut off. A box of its own may scroll. */
  function sideways() {
    const { scrollWidth, clientWidth } = document.documentElement,
      found = [];
    if (scrollWidth > clientWidth) found.push(`the page is ${scrollWidth} wide in ${clientWidth}`);
    const boxed = (el) => {
      for (let up = el; up && up !== document.body; up = up.parentElement) {
        if (/auto|scroll/.test(getComputedStyle(up).overflowX) || up.matches("m-heard, svg *")) return true;
      }
      return false;
    };
    for (const el of all("main *")) {
      const { width, height, right } = el.getBoundingClientRect();
      if (width > 1 && height > 1 && right > clientWidth + 1 && !boxed(el)) {
        found.push(`cut off at ${Math.round(right)} of ${clientWidth}: ${start(el.outerHTML)}`);
      }
    }
    return found.slice(0, 5);
  }

  /** Pictures without words: an image without alt or with its file's name as alt, a drawing without a name. */
  function namelessFigures() {
    const decor = '[aria-hidden="true"], [role="presentation"], [role="none"], button, a[aria-label], a[title], nav';
    const text = (id) => document.getElementById(id)?.textContent.trim() ?? "";
    const named = (el) =>
      el.getAttribute("aria-label")?.trim() ||
      el.querySelector(":scope > title")?.textContent.trim() ||
      (el.getAttribute("aria-labelledby") ?? "").split(/\s+/).map(text).join("");
    const wordless = (img) => !img.alt.trim() || /\.(svg|png|jpe?g|gif|webp)$/i.test(img.alt.trim());
    const inner = (el) => el.parentElement.closest('svg, [role="img"], m-tex');
    return [
      ...all("img")
        .filter((img) => wordless(img) && !(img.hasAttribute("alt") && img.closest(decor)))
        .map((img) => `no words for the image: ${start(img.outerHTML)}`),
      ...all('svg, canvas, object, embed, video, [role="img"]:not(img)')
        .filter((el) => !inner(el) && !el.closest(decor) && !named(el))
        .map((el) => `no words for the drawing: ${start(el.outerHTML)}`),
    ];
  }

  /** Words in a drawing that are too small to read on the screen, and a figure drawn twice that leaves room or shows both. */
  function smallLabels() {
    const found = [],
      figures = innerWidth < 576 ? 11 : 12;
    for (const label of all("main svg text").filter((el) => el.checkVisibility() && el.textContent.trim())) {
      const { a, b } = label.getScreenCTM(),
        size = parseFloat(getComputedStyle(label).fontSize) * Math.hypot(a, b);
      if (size < (label.closest(".rope-svg") ? figures : 9))
        found.push(`${size.toFixed(1)} pixels high: ${start(label.textContent)}`);
    }
    for (const twice of all(".rope-svg:has(> svg + svg)").filter((el) => el.checkVisibility())) {
      const widths = all(":scope > svg", twice).map((el) => el.getBoundingClientRect().width),
        seen = widths.filter((width) => width),
        room = twice.clientWidth;
      if (seen.length !== 1 || seen[0] < Math.min(room, room < 640 ? 358 : 790) - 2)
        found.push(`drawings ${widths.map(Math.round).join(" and ")} wide in ${room}: ${start(twice.textContent)}`);
    }
    return found;
  }

  /** Sizes of type beyond the scale of rope.css, a box with a shadow, and a table that is wider than its frame by a hair. */
  function strayDesign() {
    const sizes = new Map(),
      walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const el = walker.currentNode.parentElement;
      const apart =
        "svg, m-tex, script, style, noscript, .rope-math, .rope-sub, .rope-sup, .skip-link, .headerlink, [class*=verdict]";
      if (!walker.currentNode.data.trim() || el.closest(apart) || !el.checkVisibility()) continue;
      const size = parseFloat(getComputedStyle(el).fontSize);
      if (el.getBoundingClientRect().width > 2 && !sizes.has(size))
        sizes.set(size, start(walker.currentNode.data.trim()));
    }
    const found = [...sizes].filter(([size]) => size < 12).map(([size, word]) => `${size} pixels high: ${word}`);
    if (sizes.size > 10)
      found.push(`${sizes.size} sizes of type: ${[...sizes].map((one) => one.join(" ")).join("; ")}`);
    for (const box of all("main :is(.admonition, .proof, .fold, form, .task, .cell_input)"))
      if (getComputedStyle(box).boxShadow !== "none") found.push(`a shadow: ${start(box.textContent)}`);
    for (const frame of all("main .pst-scrollable-table-container")) {
      const over = frame.scrollWidth / frame.clientWidth - 1;
      if (over > 0.003 && over < 0.08)
        found.push(`too wide by ${frame.scrollWidth - frame.clientWidth}: ${start(frame.textContent)}`);
    }
    return found;
  }

  /** Words in a drawing that run into each other, or a heading whose unseen link stands alone on a line. */
  function crowded() {
    const found = [];
    for (const drawing of all("main svg").filter((el) => el.checkVisibility())) {
      const seen = { visibilityProperty: true, opacityProperty: true };
      const words = all("text", drawing).filter((el) => el.checkVisibility(seen) && el.textContent.trim());
      const boxes = words.map((el) => el.getBoundingClientRect());
      boxes.forEach((a, i) => {
        boxes.slice(i + 1).forEach((b, j) => {
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left),
            down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (across > 3 && down > 5)
            found.push(`over each other: ${words[i].textContent} / ${words[i + 1 + j].textContent}`);
        });
      });
    }
    for (const link of all(":is(h1, h2, h3, h4, h5) > .headerlink").filter((el) => el.checkVisibility())) {
      const title = document.createRange();
      title.setStart(link.parentElement, 0);
      title.setEndBefore(link);
      if (link.getBoundingClientRect().top > title.getBoundingClientRect().bottom - 2) {
        found.push(`a link alone on its line: ${start(title.toString())}`);
      }
    }
    return found;
  }

  /** A few texts of each kind, alike in inks, grounds and size: all that axe's two slow rules depend on. */
  function kindsOfText() {
    const kinds = new Map(),
      grounds = new Map();
    const ground = (el) => {
      // what an element stands on, up to the page
      if (!el) return "";
      if (!grounds.has(el)) {
        const { backgroundColor, backgroundImage, opacity, position, filter } = getComputedStyle(el);
        grounds.set(
          el,
          [ground(el.parentElement), backgroundColor, backgroundImage, opacity, position, filter]
            .filter((part) => !["rgba(0, 0, 0, 0)", "none", "1", "static"].includes(part))
            .join(),
        );
      }
      return grounds.get(el);
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const el = walker.currentNode.parentElement,
        link = el.closest("a") ?? el;
      if (!walker.currentNode.data.trim() || !el.checkVisibility()) continue;
      const { color, fontSize, fontWeight, textShadow } = getComputedStyle(el);
      const { textDecorationLine, borderBottom } = getComputedStyle(link),
        around = getComputedStyle(link.parentElement).color;
      const kind = [
        color,
        fontSize,
        fontWeight,
        textShadow,
        textDecorationLine,
        borderBottom,
        around,
        ground(el),
      ].join();
      kinds.set(kind, [...(kinds.get(kind) ?? []), link].slice(0, 2));
    }
    return [...new Set([...kinds.values()].flat())];
  }

  /** What axe-core calls serious or critical. Without `preload: false` axe fetches every style sheet once more. */
  async function seriousToAxe() {
    const options = { resultTypes: ["violations"], preload: false },
      slow = ["color-contrast", "link-in-text-block"];
    const milder = axe._audit.rules.filter(({ impact }) => ["minor", "moderate"].includes(impact)).map(({ id }) => id);
    const off = Object.fromEntries([...slow, ...milder].map((rule) => [rule, { enabled: false }]));
    // The ledger's entries are written by one template, and axe is slow on hundreds: of each chapter six are asked.
    const aside = all(".ledger-chapter > .ledger-entry:nth-of-type(n + 7)").map((entry) => [entry, new Comment()]);
    for (const [entry, place] of aside) entry.replaceWith(place);
    // Glyphs are no text nodes, and nobody hears them: of a formula that leads nowhere the box stays, half of a page goes.
    const glyphs = all("m-math:not(:has(a, [tabindex]))").map((el) => [el, [...el.childNodes], el.style.cssText]);
    const boxes = glyphs.map(([el]) => el.getBoundingClientRect());
    glyphs.forEach(([el], i) => {
      el.style.cssText += `; display: inline-block; width: ${boxes[i].width}px; height: ${boxes[i].height}px`;
      el.replaceChildren();
    });
    const runs = [await axe.run(document, { ...options, rules: off })];
    const heard = all("m-heard").map((el) => [el, [...el.childNodes], ""]); // it has no contrast
    for (const [el] of heard) el.replaceChildren(); // the second run lays every box of the page on a grid
    runs.push(await axe.run({ include: kindsOfText() }, { ...options, runOnly: slow }));
    for (const [el, nodes, style] of [...glyphs, ...heard]) {
      el.style.cssText = style;
      el.replaceChildren(...nodes);
    }
    for (const [entry, place] of aside) place.replaceWith(entry);
    const found = runs.flatMap(({ violations }) => violations);
    const serious = found.filter(({ impact }) => ["serious", "critical"].includes(impact));
    return serious.flatMap(({ id, impact, nodes }) =>
      nodes
        .slice(0, 4)
        .map(
          ({ target, html, any }) =>
            `${id} (${impact}): ${target.join(" ")}: ${start(html)} ${id === "color-contrast" ? any[0]?.message : ""}`,
        ),
    );
  }

  /** What a widget draws, without its controls and their readings: a slider that moves only itself is no answer. */
  function drawing(widget) {
    // A list in an order is a drawing, too.
    const drawn = all("svg, canvas, table, ol", widget).filter((el) => !el.closest("button"));
    return (drawn.length ? drawn : all("[aria-live], [role=status]", widget))
      .map((el) => el.toDataURL?.() ?? el.outerHTML)
      .join("");
  }

  /** Wrong answers that were foreseen, and are not told why they are wrong when somebody gives them. */
  function untoldMistakes() {
    const found = [];
    for (const form of all("form.quiz")) {
      const inputs = all('input[name="answer"]', form);
      for (const text of all(".quiz-feedback > [data-for]", form)) {
        const given = text.dataset.for;
        form.reset();
        const choice = inputs.find((input) => input.type === "radio" && input.value === given);
        if (choice) choice.checked = true;
        else inputs[0].value = given;
        form.requestSubmit();
        const { width, height } = text.getBoundingClientRect();
        if (!width || !height || getComputedStyle(text).visibility !== "visible") {
          found.push(`${form.id} says nothing about ${given}`);
        }
      }
      if (form.querySelector(".quiz-feedback")) form.reset();
    }
    return found;
  }

  /** Places that settle a prediction and do not say what was predicted, after every form was answered. */
  function unsettledPredictions() {
    const told = (box) => /You said \S/.test(box.textContent) && /The answer is \S/.test(box.textContent);
    return all(".quiz-settled")
      .filter((box) => !told(box) || box.querySelector("details:not([open])"))
      .map((box) => `${box.id} does not settle what was predicted: ${start(box.textContent)}`);
  }

  return {
    frames,
    started,
    firstScreen,
    settle,
    rested,
    still,
    shift,
    literalTex,
    unsetMathematics,
    sideways,
    namelessFigures,
    smallLabels,
    strayDesign,
    crowded,
    kindsOfText,
    seriousToAxe,
    drawing,
    untoldMistakes,
    unsettledPredictions,
  };
})();
