// Light or dark against the system's choice, code to be copied. Folds: all at once, by section, and open on paper. What is
// wider than the screen can be scrolled from the keyboard.
const made = (kind, name, text) => {
  const element = document.createElement(kind);
  if (kind === "button") element.type = "button";
  element.className = name;
  element.textContent = text;
  return element;
};
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const theme = made("button", "theme", "");
const themed = (chosen) => {
  if (chosen) root.dataset.theme = chosen;
  theme.textContent = (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark" ? "Light" : "Dark";
  theme.setAttribute("aria-label", `${theme.textContent} theme`);
};
// A page from disk, or one that may keep nothing, forgets the choice.
const kept = (choice) => {
  try {
    if (choice) localStorage.setItem("theme", choice);
    return localStorage.getItem("theme");
  } catch {
    return choice;
  }
};
theme.addEventListener("click", () => themed(kept(theme.textContent.toLowerCase())));
system.addEventListener("change", () => themed());
themed(kept());
document.querySelector("main").prepend(theme);
for (const code of navigator.clipboard ? document.querySelectorAll("main .highlight, main div.sourceCode") : []) {
  const copy = made("button", "copy", "Copy");
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.querySelector("pre").textContent);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 2000);
  });
  code.append(copy);
}
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
  const said = (open) => `${open ? "Hide" : "Show"} all ${own.length} pieces of code`;
  const button = made("button", "open-section", said(own.every((fold) => fold.open)));
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
