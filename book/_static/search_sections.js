/* Search results that lead to a section. Sphinx finds the pages that have all words; here each page gives way to its
   sections that have them all, those with the most first, three at most. A page that has them in its title stands above
   all sections, and a section that has them in its title above the others; a page whose words stand in no section
   together, below. The words come from search_sections.py. Scores are Sphinx's: see Scorer in searchtools.js. */
(() => {
  "use strict";
  const MOST = 3;
  const { sections, words } = globalThis.ropeSections;
  // biome-ignore lint/correctness/noUndeclaredVariables: of searchtools.js
  const [search, scores, stems] = [Search, Scorer, new Stemmer()];
  const pages = search.performTermsSearch;

  /** How often each section has a word, as Sphinx matches: whole, or as a part where no word is the same. */
  function counts(word) {
    const same = Object.hasOwn(words, word) ? [word] : Object.keys(words).filter((other) => other.includes(word));
    const found = new Map();
    for (const stem of word.length > 2 || same[0] === word ? same : []) {
      for (let at = 0, section = 0; at < words[stem].length; at += 2) {
        section += words[stem][at];
        found.set(section, (found.get(section) ?? 0) + words[stem][at + 1]);
      }
    }
    return found;
  }

  /** The sections that have all words, by page: pairs of a section's number and how often it has the rarest. */
  function found(wanted) {
    const all = [...wanted].map(counts).filter((each, at) => each.size || [...wanted][at].length > 2);
    const byPage = new Map();
    for (const section of all[0]?.keys() ?? []) {
      const least = Math.min(...all.map((each) => each.get(section) ?? 0));
      if (!least) continue;
      const page = sections[section][0];
      byPage.set(page, [...(byPage.get(page) ?? []), [section, least]]);
    }
    return byPage;
  }

  /** A title in small letters, without its number and the marks that Sphinx keeps in it. */
  const plain = (title) =>
    title
      .replace(/<[^>]*>/g, "")
      .replace(/^\d+\.\s/, "")
      .toLowerCase();

  /** Does Sphinx list a page for its title? It does where what was typed is half of it. */
  function listed(title) {
    const typed = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
    return plain(title).includes(typed) && typed.length >= plain(title).length / 2;
  }

  /** Has a title all words? */
  function titled(title, wanted) {
    const inside = plain(title).match(/[\p{L}\p{N}]+/gu) ?? [];
    return wanted.size > 0 && [...wanted].every((stem) => inside.some((word) => stems.stemWord(word) === stem));
  }

  search.performTermsSearch = (wanted, excluded) => {
    const byPage = found(wanted);
    return pages(wanted, excluded).flatMap(([page, title, , about, , file]) => {
      const named = titled(title, wanted);
      const above = named && !listed(title) ? [[page, title, "", about, scores.partialTitle, file]] : [];
      const rank = ([section, count]) => Math.min(count, 9) / 10 + titled(sections[section][2], wanted);
      const best = (byPage.get(page) ?? []).sort((a, b) => rank(b) - rank(a) || b[1] - a[1]).slice(0, MOST);
      if (!best.length && !named) return [[page, title, "", about, scores.partialTerm, file]];
      const inside = best.map(([section, count]) => {
        const [, anchor, name] = sections[section];
        const score = scores.term + (anchor ? rank([section, count]) : Math.min(count, 9) / 10 - 1);
        return [page, anchor ? `${title} > ${name}` : title, anchor && `#${anchor}`, about, score, file];
      });
      return [...above, ...inside.filter(([, , anchor]) => anchor || !named)];
    });
  };
})();
