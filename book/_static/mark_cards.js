/* A sign beside an equation opens a card on the spot: when pointed at, reached by keyboard, clicked or tapped.
   Its text lies in the page, so it works from a file too. Without this script a sign is a link to the ledger. */
(() => {
  "use strict";
  const KEY = "rope-lab:marks"; // "off": a reader who does not want them
  const signs = [...document.querySelectorAll("a[data-claims]")];
  if (!signs.length || !HTMLElement.prototype.showPopover) return;

  const card = document.createElement("div");
  card.className = "mark-card";
  card.id = "mark-card";
  card.popover = "auto";
  card.setAttribute("role", "dialog");
  card.setAttribute("aria-label", "What stands behind this");
  document.body.append(card);

  let owner = null, // the sign whose card is open
    pinned = false, // opened by a click: the pointer may leave
    timer = 0;

  const phone = () => matchMedia("(max-width: 575px)").matches;

  function place() {
    if (phone()) {
      card.style.cssText = "";
      return;
    }
    const sign = owner.getBoundingClientRect(),
      { offsetWidth: width, offsetHeight: height } = card;
    const left = Math.max(8, Math.min(sign.right - width, innerWidth - width - 8));
    const below = sign.bottom + 6 + height <= innerHeight || sign.top < height + 6;
    card.style.cssText = `position: fixed; inset: auto; left: ${left}px; top: ${below ? sign.bottom + 6 : sign.top - 6 - height}px`;
  }

  function fill(sign) {
    const entries = sign.dataset.claims
      .split(" ")
      .map((name) => document.getElementById(`card-${name}`))
      .filter(Boolean)
      .map((entry) => {
        const copy = entry.cloneNode(true);
        copy.removeAttribute("id");
        for (const inner of copy.querySelectorAll("[id]")) inner.removeAttribute("id");
        return copy;
      });
    const more = document.createElement("p");
    more.className = "mark-more";
    const link = document.createElement("a");
    link.href = sign.href;
    link.textContent = "The check, in the ledger";
    more.append(link);
    card.replaceChildren(...entries, more);
  }

  function open(sign, pin) {
    clearTimeout(timer);
    pinned = pin;
    if (owner === sign) return;
    shut();
    owner = sign;
    pinned = pin;
    fill(sign);
    card.showPopover();
    sign.setAttribute("aria-expanded", "true");
    place();
    window.typesetLater(card)?.then(() => {
      if (owner) place();
    });
  }

  function shut() {
    clearTimeout(timer);
    if (card.matches(":popover-open")) card.hidePopover();
    owner?.setAttribute("aria-expanded", "false");
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
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !owner) return;
    event.preventDefault();
    const back = card.contains(document.activeElement) ? owner : null;
    shut();
    back?.focus({ focusVisible: false });
  });
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", () => {
    if (!pinned) later(shut, 250);
  });
  for (const sign of signs) {
    sign.setAttribute("aria-haspopup", "dialog");
    sign.setAttribute("aria-expanded", "false");
    sign.addEventListener("pointerenter", (event) => {
      if (event.pointerType === "mouse") later(() => open(sign, false), 150);
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
      if (event.metaKey || event.ctrlKey || event.shiftKey) return; // to the ledger, in a new tab
      event.preventDefault();
      if (owner === sign && pinned) shut();
      else open(sign, true);
    });
    sign.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" && owner === sign) {
        event.preventDefault();
        card.querySelector("a").focus();
      }
    });
  }

  /* The switch stands with the list of the page's claims. */
  const list = document.querySelector("details.claims-of-page");
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
    try {
      localStorage.setItem(KEY, root.dataset.marks);
    } catch {
      /* a private window forgets */
    }
    show();
  });
  try {
    document.documentElement.dataset.marks = localStorage.getItem(KEY) ?? "on";
  } catch {
    /* a private window forgets */
  }
  show();
  list?.append(button);
})();
