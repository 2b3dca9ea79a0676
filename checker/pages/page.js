// Folds: all at once, by section, and open on paper. What is wider than the screen can be scrolled from the keyboard.
const folds = (within) => [...within.querySelectorAll("section.code details, .cell details")];
const toggled = (some) => {
  const open = some.some((fold) => !fold.open);
  for (const fold of some) fold.open = open;
  return open;
};
for (const button of document.querySelectorAll("button.open-all")) {
  button.addEventListener("click", () => {
    button.textContent = toggled(folds(document)) ? "Hide all code" : "Show all code";
  });
}
const headings = [...document.querySelectorAll("h2[id^=section-]")];
const precedes = (heading, fold) => heading.compareDocumentPosition(fold) & Node.DOCUMENT_POSITION_FOLLOWING;
for (const heading of headings) {
  const own = folds(document).filter((fold) => headings.filter((other) => precedes(other, fold)).at(-1) === heading);
  if (own.length < 2) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "open-section";
  const said = (open) => `${open ? "Hide" : "Show"} all ${own.length} pieces of code`;
  button.textContent = said(false);
  button.addEventListener("click", () => {
    button.textContent = said(toggled(own));
  });
  heading.after(button);
}
addEventListener("beforeprint", () => {
  for (const fold of folds(document)) fold.open = true;
});
const reachable = () => {
  for (const element of document.querySelectorAll("main pre, main table, main p, main .sourceCode")) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
  }
};
reachable();
addEventListener("resize", reachable);
addEventListener("toggle", reachable, true);
if (matchMedia("(max-width: 900px)").matches) {
  for (const contents of document.querySelectorAll("body > nav > details")) contents.open = false;
}
