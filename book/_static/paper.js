/** Paper is white: a page that is read in the dark theme is printed in the light one. */
{
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => {
    theme = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => {
    page.theme = theme;
  });
}
