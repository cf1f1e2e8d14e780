/* Fills the place of {continue} with a link to where the reader stopped; progress.js has noted it. It runs while the
   page is read, before anything is drawn, so nothing moves. */
{
  const place = document.currentScript.previousElementSibling;
  const { last } = globalThis.ropeMemory.way();
  if (last) {
    const link = document.createElement("a");
    const section = last.section ? `#${encodeURIComponent(last.section)}` : "";
    link.href = `${document.documentElement.dataset.content_root}book/${last.chapter}.html${section}`;
    link.textContent = [last.title, last.heading].filter(Boolean).join(", ");
    place.append("Continue: ", link);
    place.hidden = false;
  }
}
