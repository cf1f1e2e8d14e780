/** Shows a page when its fonts have come, or after half a second: then no line breaks anew under the reader's eyes. */
{
  const faces = ["1em 'Source Serif 4'", "1em Inter"]; // every page has these; what only some have may come later
  const page = document.documentElement.dataset;
  const come = Promise.all(faces.map((face) => document.fonts.load(face)));
  const late = new Promise((done) => setTimeout(done, 500));
  page.fonts = "wait";
  Promise.race([come, late]).finally(() => {
    page.fonts = "shown";
  });
}
