/* Where a reader is, kept in this browser (memory.js) and sent nowhere: a line that grows along a chapter, marks
   beside the chapters in the side bar, and the place to continue. A classic script: modules do not load from file://. */
(() => {
  "use strict";
  const DWELL = 1000; // ms in view before a section counts as seen: scrolling past is not reading
  const MARKS = { read: "read", predicted: "predicted", done: "exercises done" };
  const CHAPTER = /\/book\/(\d\d_\w+)\.html$/;

  const load = globalThis.ropeMemory.way;
  const save = (way) => globalThis.ropeMemory.write("way", way);
  const made = (name, className, ...content) => {
    const node = document.createElement(name);
    node.className = className;
    node.append(...content);
    return node;
  };

  /** Marks beside the chapters in the side bar, and under the last one what they mean and how to forget them. */
  const bar = document.querySelector(".bd-sidebar-primary .bd-links");
  function mark() {
    const { chapters } = load();
    for (const old of document.querySelectorAll(".way-marks, .way-foot")) old.remove();
    if (!bar || !Object.keys(chapters).length) return;
    for (const link of bar.querySelectorAll("a[href]")) {
      const state = chapters[new URL(link.href).pathname.match(CHAPTER)?.[1]];
      const named = Object.keys(MARKS).filter((name) => state?.[name]);
      if (!named.length) continue;
      const dots = Object.keys(MARKS).map((name) => made("i", state[name] ? "on" : ""));
      const words = named.map((name) => MARKS[name]).join(", ");
      link.append(made("span", "way-marks", ...dots, made("span", "visually-hidden", ` (${words})`)));
    }
    const button = made("button", "way-forget", "Forget my progress");
    button.type = "button";
    button.addEventListener("click", forget);
    const key = made("span", "", "Three dots: read, predicted, exercises done. Kept in this browser alone.");
    bar.append(made("p", "way-foot", key, " ", button));
  }

  function forget() {
    if (!confirm("Forget what you have read and answered in this browser?")) return;
    globalThis.ropeMemory.forget((name) => name === "way" || name.startsWith("quiz-"));
    location.reload();
  }

  /** Note something of this chapter; the marks follow. */
  function note(chapter, change) {
    const way = load();
    way.chapters[chapter] = { ...way.chapters[chapter], ...change(way.chapters[chapter] ?? {}, way) };
    save(way);
    mark();
  }

  const words = (heading) => {
    const copy = heading.cloneNode(true);
    for (const link of copy.querySelectorAll(".headerlink")) link.remove();
    return copy.querySelector(".math") ? "" : copy.textContent.trim();
  };

  /** A section that stays in view is seen. With all of them seen up to "Keep", the chapter is read. */
  function follow(chapter, sections) {
    const core = sections.slice(0, 1 + sections.findIndex(({ id }) => id === "keep")).map(({ id }) => id);
    const see = ({ id }) =>
      note(chapter, (state) => {
        if (state.read) return {};
        const seen = [...new Set([...(state.seen ?? []), id])];
        return core.length && core.every((name) => seen.includes(name)) ? { read: true, seen: undefined } : { seen };
      });
    const waiting = new Map();
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        clearTimeout(waiting.get(target));
        if (isIntersecting) waiting.set(target, setTimeout(see, DWELL, target));
      }
    });
    for (const section of sections) watch.observe(section);
  }

  /** Where the reader rests: the section at the upper part of the window. */
  function rest(chapter, sections) {
    const title = words(document.querySelector(".bd-article h1"));
    const here = () => {
      const section = sections.findLast((one) => one.getBoundingClientRect().top < innerHeight * 0.4);
      const heading = section?.querySelector("h2");
      const way = load();
      way.last = { chapter, title, section: section?.id, heading: heading ? words(heading) : "" };
      save(way);
    };
    let timer = setTimeout(here, DWELL);
    const later = () => {
      clearTimeout(timer);
      timer = setTimeout(here, DWELL);
    };
    addEventListener("scroll", later, { passive: true });
  }

  /** The line: how much of the article lies above the foot of the window. */
  function draw() {
    const line = made("div", "way-line");
    line.setAttribute("aria-hidden", "true");
    document.body.append(line);
    const article = document.querySelector(".bd-article");
    const grow = () => {
      const { top, height } = article.getBoundingClientRect();
      const all = height + top + scrollY - innerHeight;
      line.style.scale = `${all > 0 ? Math.min(1, scrollY / all) : 0} 1`;
    };
    addEventListener("scroll", () => requestAnimationFrame(grow), { passive: true });
    addEventListener("resize", grow);
    grow();
  }

  /** Predictions and exercises, as the forms have them (quiz.js). */
  function count(chapter, forms) {
    const all = (kind, state) => {
      const own = forms.filter((form) => (form.dataset.kind === "prediction") === kind);
      return own.length > 0 && own.every((form) => form.dataset.state === state);
    };
    const look = () => {
      const now = { predicted: all(true, "committed"), done: all(false, "right") };
      const { predicted = false, done = false } = load().chapters[chapter] ?? {};
      if (now.predicted !== predicted || now.done !== done) note(chapter, () => now);
    };
    const watch = new MutationObserver(look);
    for (const form of forms) watch.observe(form, { attributeFilter: ["data-state"] });
    if (forms.every((form) => form.dataset.state)) look();
  }

  /** The list at the side stands where it stood on the page before: bring this page into it. */
  function show() {
    const list = document.querySelector(".bd-sidebar-primary");
    const page = list?.querySelector(".current.active > a");
    if (!page) return;
    const { top, bottom } = page.getBoundingClientRect();
    const seen = list.getBoundingClientRect();
    // The name of the book and the search may stay above the list and cover its first lines.
    const search = list.querySelector(".search-button__button")?.getBoundingClientRect();
    const free = Math.max(seen.top, search?.bottom ?? 0);
    if (top < free || bottom > seen.bottom) list.scrollTop += top - seen.top - seen.height / 3;
  }

  mark();
  addEventListener("load", () => requestAnimationFrame(show)); // after the theme, which puts the list back
  const chapter = location.pathname.match(CHAPTER)?.[1];
  if (!chapter) return;
  const sections = [...document.querySelectorAll(".bd-article > section > section[id]")];
  draw();
  follow(chapter, sections);
  rest(chapter, sections);
  count(chapter, [...document.querySelectorAll("form.quiz")]);
})();
