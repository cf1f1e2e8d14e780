/* What this browser keeps of a reader, and the place that an address names: both are checked here before they are used.
   It is the first script of a page. Where a browser keeps nothing, it puts stores in the place of the refused ones that
   last as long as the page, so that no script stops: neither ours nor the theme's. */
globalThis.ropeMemory = (() => {
  "use strict";
  const LONGEST = 200_000; // characters of an entry
  // All books of one account share an origin, and all files a store: an entry names the address of this book.
  const BOOK = `rope-lab:${new URL(document.documentElement.dataset.content_root, location.href).pathname}:`;
  const CHAPTER = /^\d\d_\w+$/;
  let lasting = true;

  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      window[name].setItem(`${BOOK}try`, "");
      window[name].removeItem(`${BOOK}try`);
    } catch {
      const kept = new Map();
      const value = {
        key: (at) => [...kept.keys()][at] ?? null,
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, text) => void kept.set(key, `${text}`),
        removeItem: (key) => void kept.delete(key),
      };
      Object.defineProperty(value, "length", { get: () => kept.size });
      Object.defineProperty(window, name, { value });
      lasting = false;
    }
  }
  // Two settings of the theme, which every book made with it keeps under these names.
  for (const name of ["mode", "theme"])
    if (!["light", "dark", "auto", null].includes(localStorage.getItem(name))) localStorage.removeItem(name);

  /** What is kept under a name, if it is JSON and `fits` says that it is of the right kind. */
  function read(name, fits, store = localStorage) {
    try {
      const text = store.getItem(BOOK + name);
      const found = text.length > LONGEST ? null : JSON.parse(text);
      return fits(found) ? found : undefined;
    } catch {
      return undefined; // nothing is kept there, or it is not ours
    }
  }
  function write(name, value, store = localStorage) {
    try {
      store.setItem(BOOK + name, JSON.stringify(value));
    } catch {
      lasting = false; // the store is full
    }
  }
  /** Forget what is kept under the names that `chosen` picks. */
  function forget(chosen) {
    const keys = Array.from({ length: localStorage.length }, (_, at) => localStorage.key(at));
    for (const key of keys) if (key.startsWith(BOOK) && chosen(key.slice(BOOK.length))) localStorage.removeItem(key);
  }

  const dict = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
  const brief = (text) => typeof text === "string" && text.length < 500;
  const isState = ([name, state]) => CHAPTER.test(name) && dict(state) && [].concat(state.seen ?? []).every(brief);
  const isLast = ({ chapter, title, section = "", heading }) =>
    [chapter, title, section, heading].every(brief) && CHAPTER.test(chapter);
  const isWay = ({ chapters, last }) =>
    dict(chapters) && Object.entries(chapters).every(isState) && (last === undefined || isLast(last));
  /** What of the book was read and answered, by chapter, and where the reader was last. */
  const way = () => read("way", isWay) ?? { chapters: {} };

  /** The element that the address names behind its #, if there is one. */
  function place() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null; // no characters of UTF-8
    }
  }
  return { book: BOOK, read, write, forget, way, place, brief, lasting: () => lasting };
})();
