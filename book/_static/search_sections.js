/* Search results that lead to a section, found by any of the words that were typed. Sphinx finds the pages that have
   all words; here the sections come first that have the most of them, and a word in a title, or in the line of other
   words under it, counts twice. Among equals rare words decide, then how often they stand there. Of a page five
   sections are shown at most; a page with all words in its title stands above the sections that do not have more.
   Where nothing is found, two ways to go on are shown. The words come from search_sections.py. Scores are Sphinx's:
   see Scorer in searchtools.js. */
(() => {
  "use strict";
  const [MOST, ALL] = [5, 40]; // of a page, and of the book
  // Words of a question that say nothing of its subject; a few more than Sphinx leaves out.
  const FILLERS = new Set(
    "a after am can do doe from get got ha have how i me my so what when which whi with you".split(" "),
  );
  const { root, sections, words } = globalThis.ropeSections;
  // biome-ignore lint/correctness/noUndeclaredVariables: of searchtools.js
  const [search, scores, stems] = [Search, Scorer, new Stemmer()];

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

  /** A title in small letters, without its number and the marks that Sphinx keeps in it. */
  const plain = (title) =>
    title
      .replace(/<[^>]*>/g, "")
      .replace(/^\d+\.\s/, "")
      .toLowerCase();

  /** The stems in a text. */
  const stemmed = (text) => new Set((plain(text).match(/[\p{L}\p{N}_]+/gu) ?? []).map((word) => stems.stemWord(word)));

  /** Does Sphinx list a page for its title? It does where what was typed is half of it. */
  function listed(title) {
    const typed = (new URLSearchParams(location.search).get("q") ?? "").trim().toLowerCase();
    return plain(title).includes(typed) && typed.length >= plain(title).length / 2;
  }

  /** The sections that have any of the words, the best first: pairs of a score and a section's number. */
  function ranked(wanted, excluded) {
    const telling = [...wanted].filter((word) => !FILLERS.has(word));
    const found = (telling.length ? telling : [...wanted])
      .map((word) => [word, counts(word)])
      .filter(([, each]) => each.size);
    const without = new Set([...excluded].flatMap((word) => [...counts(word).keys()]));
    const rare = found.map(([, each]) => Math.log(1 + sections.length / each.size));
    const [most, rank] = [rare.reduce((sum, one) => sum + one, 0), new Map()];
    for (const section of new Set(found.flatMap(([, each]) => [...each.keys()]))) {
      if (without.has(section)) continue;
      const [page, anchor, title, also] = sections[section];
      const [called, names] = [stemmed(title), stemmed(also)];
      let [hits, named, weight, least] = [0, 0, 0, 9];
      for (const [at, [word, each]] of found.entries()) {
        if (!each.has(section)) continue;
        hits += 1;
        named += called.has(word) ? 1 : 0.98 * names.has(word);
        weight += rare[at] / most;
        least = Math.min(least, each.get(section));
      }
      const whole = !anchor && named === wanted.size; // a page that is called so
      const list = /^book\/(api|ledger)/.test(page); // long lists, in which every word stands somewhere
      rank.set(section, scores.term - 1 + hits + named + whole - list + 0.8 * weight + least / 50);
    }
    return [...rank].map(([section, score]) => [score, section]).sort((a, b) => b[0] - a[0]);
  }

  search.performTermsSearch = (wanted, excluded) => {
    const { docnames, titles, filenames } = search._index;
    const shown = new Map();
    const results = [];
    for (const [score, section] of ranked(wanted, excluded)) {
      const [page, anchor, name] = sections[section];
      const [at, number] = [docnames.indexOf(page), shown.get(page) ?? 0];
      if (at < 0 || number === MOST || (!anchor && listed(titles[at]))) continue;
      shown.set(page, number + 1);
      const title = anchor ? `${titles[at]} > ${name}` : titles[at];
      results.push([page, title, anchor && `#${anchor}`, null, score, filenames[at]]);
      if (results.length === ALL) break;
    }
    return results;
  };

  const perform = search._performSearch;
  search._performSearch = (...asked) => {
    const results = perform(...asked);
    for (const result of results) if (result[0] === root) result[0] = "index"; // where front_page.py puts it
    if (!results.length) {
      const ways = document.createElement("p");
      ways.className = "search-ways";
      ways.innerHTML =
        'Look through the <a href="book/symptoms.html">index by symptom</a>, or ask your own code: ' +
        '<code>rope-lab audit my_package.rope:apply_rotary</code> (<a href="book/17_which_rope.html">chapter 17</a>).';
      search.output.before(ways);
    }
    return results;
  };
})();
