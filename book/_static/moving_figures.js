/* Still figures that play once when their button is pressed (Sheet.plays in rope_lab/show/svg.py says what moves). The
 * drawing is the end of the play, so nothing has to be put back. Who wants no motion gets no button. */
(() => {
  const frames = ({ turn = 0, at: [x, y] = [0, 0], upright, along }) => {
    if (along) return along.map(([u, v]) => ({ transform: `translate(${u}px, ${v}px)` }));
    const place = (angle) => {
      const round = `translate(${x}px, ${y}px) rotate(${angle}deg) translate(${-x}px, ${-y}px)`;
      if (!upright) return { transform: round };
      const [u, v] = upright;
      return { transform: `${round} translate(${u}px, ${v}px) rotate(${-angle}deg) translate(${-u}px, ${-v}px)` };
    };
    return [place(turn), place(0)];
  };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  for (const button of document.querySelectorAll(".rope-svg > .rope-play-once")) {
    if (calm.matches || !("animate" in button)) continue;
    const parts = button.parentElement.querySelectorAll("[data-plays]");
    button.hidden = false;
    button.addEventListener("click", () => {
      for (const part of parts) {
        const says = JSON.parse(part.dataset.plays),
          when = { duration: 1000 * says.seconds, delay: 1000 * says.begin, fill: "backwards", easing: "ease-in-out" };
        for (const old of part.getAnimations()) old.cancel();
        part.style.transformBox = "view-box";
        part.style.transformOrigin = "0 0";
        if (says.turn || says.along) part.animate(frames(says), when);
        if (says.appear) part.animate([{ opacity: 0 }, { opacity: 1 }], { ...when, duration: 300 });
      }
    });
  }
})();
