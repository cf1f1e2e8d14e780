/* What pdf.py asks of an open page: itself as a chapter of one long page, and whether something is cut. */
globalThis.bookOnPaper = {
  /** The article on paper: folds open, widgets as pictures, ids and links made unique for the whole book. */
  chapter({ page, pages, address }) {
    const article = document.querySelector("article.bd-article");
    const slug = (name) => name.replaceAll("/", "-");
    const dropped =
      "script, style, noscript, button, .headerlink, .mark-texts, .claims-of-page, .marks-switch, .chapter-links, " +
      ".quiz-buttons, .quiz-plain, .quiz-says, .quiz-feedback, .quiz-where, .settled-says, .settled-form, .quiz-progress, " +
      ".ledger-filter, .ledger-chips, .ledger-picture, .argument ul, .continue, .toctree-wrapper, [hidden]";
    dispatchEvent(new Event("beforeprint")); // as for every page on paper: paper.js keeps dates whole
    for (const fold of article.querySelectorAll("details:not(.ledger-entry)")) fold.open = true;
    for (const canvas of article.querySelectorAll("canvas")) {
      const picture = new Image();
      picture.src = canvas.toDataURL();
      picture.style.width = `${canvas.clientWidth}px`;
      canvas.replaceWith(picture);
    }
    const live = address ? `${address}${page}.html` : "";
    for (const widget of article.querySelectorAll(".rope-widget")) {
      const name = widget.querySelector("[role=group]")?.getAttribute("aria-label") ?? "An interactive figure";
      const kept = [...widget.querySelectorAll(".rope-figure, .rope-texts")].filter(
        (part) => part.checkVisibility() && (part.matches(".rope-texts") || part.querySelector("svg g > *, img")),
      );
      const body = widget.querySelector(".rope") ?? widget;
      body.replaceChildren(...kept);
      const told = document.createElement("p");
      told.className = "widget-told";
      told.append(`${name}. It moves on the website`, live ? ": " : ".");
      if (live) told.append(Object.assign(document.createElement("a"), { href: live, textContent: live }));
      widget.append(told);
      widget.classList.add("widget-picture");
    }
    for (const node of article.querySelectorAll(dropped)) node.remove();

    const own = (id) => `${slug(page)}--${id}`;
    for (const node of article.querySelectorAll("[id]")) node.id = own(node.id);
    for (const node of article.querySelectorAll("*")) {
      for (const { name, value } of [...node.attributes]) {
        if (/^aria-(labelledby|describedby)$/.test(name) || name === "for") {
          node.setAttribute(name, value.split(" ").map(own).join(" "));
        } else if (/href$/.test(name) && value.startsWith("#") && node.namespaceURI.endsWith("svg")) {
          node.setAttribute(name, `#${own(value.slice(1))}`);
        } else if (value.includes("url(#")) {
          node.setAttribute(name, value.replaceAll("url(#", `url(#${slug(page)}--`));
        }
      }
    }
    for (const link of article.querySelectorAll("a[href]")) {
      const to = new URL(link.getAttribute("href"), location.href);
      const target = to.pathname.match(/((?:book|notebooks)\/\w+|genindex|search)\.html$/)?.[1];
      if (to.protocol !== location.protocol || to.host !== location.host) continue;
      if (pages.includes(target)) {
        link.setAttribute(
          "href",
          to.hash ? `#${slug(target)}--${decodeURIComponent(to.hash.slice(1))}` : `#${slug(target)}`,
        );
      } else if (address && target) {
        link.href = `${address}${target}.html${to.hash}`;
      } else {
        link.replaceWith(...link.childNodes);
      }
    }
    const title = article.querySelector("h1");
    const sections = [...article.querySelectorAll("section > h2")].map((heading) => ({
      id: (heading.closest("section[id]") ?? heading).id,
      title: heading.textContent.trim(),
    }));
    return {
      html: `<article class="bd-article chapter" id="${slug(page)}">${article.innerHTML}</article>`,
      title: title.textContent.trim(),
      sections,
      styles: [...document.querySelectorAll("head style[id]")].map((style) => [style.id, style.textContent]),
      links: [...document.querySelectorAll('head link[rel="stylesheet"]')].map((link) => link.href),
    };
  },

  /** What is wider than the paper shrinks until it fits; what is still cut is told. */
  fit() {
    const width = document.querySelector(".chapter").clientWidth;
    const wide = "div.math, .pst-scrollable-table-container, .rope-table, .rope-figure, .rope-svg, table";
    for (const box of document.querySelectorAll(wide)) {
      const need = Math.max(box.scrollWidth, ...[...box.children].map((child) => child.scrollWidth));
      const room = Math.min(width, box.clientWidth || width);
      if (need > room + 1) box.style.zoom = Math.max(0.5, room / need);
    }
    return [...document.querySelectorAll(`.chapter :is(pre, ${wide})`)]
      .filter((box) => box.checkVisibility() && box.getBoundingClientRect().right > width + 40)
      .map((box) => box.textContent.trim().slice(0, 60));
  },

  /** The page numbers of the contents. */
  number(numbers) {
    for (const place of document.querySelectorAll(".book-contents [data-to]")) {
      place.textContent = numbers[place.dataset.to] ?? "";
    }
  },
};
