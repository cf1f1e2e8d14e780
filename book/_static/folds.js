/* A link into a fold opens it, and one in the contents closes them; print shows every fold, and code that a page hides. */
(() => {
  "use strict";
  const arrive = () => {
    const place = globalThis.ropeMemory.place();
    if (!place) return;
    let opened = false;
    for (let box = place.closest("details.fold"); box; box = box.parentElement.closest("details.fold")) {
      opened ||= !box.open;
      box.open = true;
    }
    if (opened) place.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", arrive);
  addEventListener("DOMContentLoaded", arrive);
  arrive();
  addEventListener("DOMContentLoaded", () => {
    const open = document.getElementById("pst-secondary-sidebar-checkbox"); // the contents, over the page on a phone
    document.querySelector(".bd-sidebar-secondary")?.addEventListener("click", ({ target }) => {
      if (open?.checked && target.closest('a[href^="#"]')) open.click();
    });
  });

  let shut = [];
  addEventListener("beforeprint", () => {
    shut = [...document.querySelectorAll("details:is(.fold, .hide):not([open])")];
    for (const box of shut) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of shut) box.open = false;
  });
})();
