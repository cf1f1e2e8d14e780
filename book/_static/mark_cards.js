/* A sign beside an equation, a reference to an equation or a theorem, a letter of the notation and a dot of the ledger's
   picture open a card on the spot: when pointed at, reached by keyboard or tapped. Its text lies in the page, so it works
   from a file too. A click on a sign keeps its card open; on anything else it follows the link, as without this script. */
(() => {
  "use strict";
  const texts = document.querySelector("template.mark-texts")?.content;

  /** What the card says of the place that a link leads to: a text of the page, or a row of the ledger. */
  function text(place) {
    const found = texts?.getElementById(`card-${place}`);
    if (found) return found.cloneNode(true);
    const row = document.getElementById(place)?.querySelector(":scope > summary");
    if (!row) return null;
    const copy = document.createElement("div");
    copy.className = "mark-entry mark-row";
    copy.append(...row.cloneNode(true).childNodes);
    return copy;
  }

  const place = (link) => decodeURIComponent(link.hash.slice(1));
  const links = (selector) => [...document.querySelectorAll(selector)];
  const known = (link) => texts?.getElementById(`card-${place(link)}`);
  const signs = [...links("a[data-claims]"), ...links("a.mark-defines").filter(known)];
  const previews = [
    ...links("a.reference.internal[href*='#']").filter(known),
    ...links(".ledger-picture a.claim-shape"),
  ];
  if (!signs.length && !previews.length) return;
  if (!HTMLElement.prototype.showPopover) return;

  const card = document.createElement("div");
  card.className = "mark-card";
  card.id = "mark-card";
  card.popover = "auto";
  card.setAttribute("role", "dialog");
  document.body.append(card);
  new ResizeObserver(() => owner && put()).observe(card); // a check that is run makes it longer
  const close = Object.assign(document.createElement("button"), { type: "button", className: "mark-close" });
  close.textContent = "Close";

  let owner = null, // the sign or reference whose card is open
    pinned = false, // opened by a click: the pointer may leave
    timer = 0;

  const phone = () => matchMedia("(max-width: 575px)").matches;

  function put() {
    if (phone()) {
      card.style.cssText = "";
      return;
    }
    const sign = owner.getBoundingClientRect(),
      column = document.querySelector(".bd-article").getBoundingClientRect().left, // the card of a word in the text covers no side bar
      left = Math.max(8, column, Math.min(sign.left, innerWidth - card.offsetWidth - 8)), // to the right: the formula stays in sight
      room = { below: innerHeight - sign.bottom - 14, above: sign.top - 14 };
    const height = Math.min(card.scrollHeight + 2, 0.6 * innerHeight);
    const below = height <= room.below || room.below >= room.above;
    const most = Math.min(height, Math.max(160, below ? room.below : room.above));
    card.style.cssText = `position: fixed; inset: auto; left: ${left}px; max-height: ${most}px; top: ${below ? sign.bottom + 6 : sign.top - 6 - most}px`;
  }

  function fill(sign) {
    const names = sign.dataset.claims?.split(" ").map((name) => `claim-${name}`) ?? [place(sign)];
    const entries = names.map(text).filter(Boolean);
    for (const entry of entries) {
      entry.dataset.entry = entry.id;
      entry.removeAttribute("id");
      for (const inner of entry.querySelectorAll("[id]")) inner.removeAttribute("id");
    }
    card.replaceChildren(...entries);
    card.dispatchEvent(new CustomEvent("mark-card", { bubbles: true })); // buttons.js adds a run
    card.setAttribute("aria-label", previews.includes(sign) ? "Preview" : "What stands behind this");
    const more =
      card.querySelector(".mark-more") ?? Object.assign(document.createElement("p"), { className: "mark-more" });
    const textContent = sign.dataset.claims ? "The check, in the ledger" : "Open the entry";
    if (!more.firstChild) more.append(Object.assign(document.createElement("a"), { href: sign.href, textContent }));
    more.prepend(close);
    card.append(more); // the foot, which stays in view
  }

  /** Say whether the card of a sign is open; a reference is a plain link, and says nothing. */
  function expanded(sign, yes) {
    if (signs.includes(sign)) sign.setAttribute("aria-expanded", String(yes));
  }

  function open(sign, pin) {
    clearTimeout(timer);
    pinned = pin;
    if (owner === sign && card.matches(":popover-open")) return; // a press beside it may have closed it
    shut();
    owner = sign;
    pinned = pin;
    fill(sign);
    card.showPopover();
    expanded(sign, true);
    put();
  }

  function shut() {
    clearTimeout(timer);
    if (card.matches(":popover-open")) card.hidePopover();
    expanded(owner, false);
    owner = null;
    pinned = false;
  }

  const later = (work, ms) => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };

  card.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && owner && !card.matches(":popover-open")) shut(); // Escape, or a click beside it
  });
  const leave = (event) => {
    if ((event.type === "keydown" && event.key !== "Escape") || !owner) return;
    event.preventDefault();
    const back = pinned || card.contains(document.activeElement) ? owner : null;
    shut();
    back?.focus({ focusVisible: false });
  };
  addEventListener("keydown", leave);
  close.addEventListener("click", leave);
  card.addEventListener("click", ({ target }) => {
    if (target.closest("a")) shut(); // its link may lead to this page
  });
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", () => {
    if (!pinned) later(shut, 250);
  });
  for (const sign of [...signs, ...previews]) {
    const stays = signs.includes(sign);
    let touched = false;
    if (stays) {
      sign.setAttribute("aria-haspopup", "dialog");
      sign.setAttribute("aria-expanded", "false");
    }
    sign.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") later(() => open(sign, false), stays ? 150 : 250);
    });
    sign.addEventListener("pointerdown", (event) => {
      touched = event.pointerType !== "mouse";
    });
    sign.addEventListener("pointerleave", () => {
      if (!pinned) later(shut, 250);
    });
    sign.addEventListener("focus", () => {
      if (sign.matches(":focus-visible")) open(sign, false);
    });
    sign.addEventListener("blur", ({ relatedTarget }) => {
      if (owner === sign && !pinned && !card.contains(relatedTarget)) later(shut, 250);
    });
    sign.addEventListener("click", (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return; // to the place, in a new tab
      if (!stays && !touched) {
        shut();
        return; // to the place
      }
      event.preventDefault();
      touched = false;
      if (owner === sign && pinned) shut();
      else open(sign, true);
    });
    sign.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" && owner === sign && !sign.matches(".claim-shape")) {
        event.preventDefault();
        card.querySelector("a").focus();
      }
    });
  }

  /* The switch stands with the list of the page's claims. */
  const list = document.querySelector("body:has(.mark-sign) details.claims-of-page");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "marks-switch";
  const show = () => {
    const off = document.documentElement.dataset.marks === "off";
    button.textContent = off ? "Show the signs beside equations" : "Hide the signs beside equations";
    button.setAttribute("aria-pressed", String(off));
  };
  button.addEventListener("click", () => {
    const root = document.documentElement;
    root.dataset.marks = root.dataset.marks === "off" ? "on" : "off";
    globalThis.ropeMemory.write("marks", root.dataset.marks);
    show();
  });
  document.documentElement.dataset.marks = globalThis.ropeMemory.read("marks", (kept) => kept === "off") ?? "on";
  show();
  list?.append(button);
})();
