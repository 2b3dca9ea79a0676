// The search over the whole course, in the sidebar: what ranking.js finds, each place with the words around.
{
  const field = document.querySelector(".search input");
  const list = document.querySelector(".found");
  const pages = document.querySelector(".pages");
  const said = document.querySelector(".search-said");
  const MOST = 15;
  const { wordsOf, prepared, ranked, around } = globalThis.ranking;

  // The sections of all pages in one list; one without an anchor is its page.
  const sectionsOf = (listed) => listed.flatMap(({ address, title, kind, sections }) => sections.map(([anchor, heading, text]) => ({
    address: anchor ? `${address}#${anchor}` : address,
    heading: anchor ? heading : title,
    text,
    kind,
    of: anchor ? title : "",
  })));
  let index;
  const loaded = () => (index ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = field.dataset.index;
    script.addEventListener("load", () => resolve(prepared(sectionsOf(globalThis.searched))));
    script.addEventListener("error", () => reject(new Error("The index of the search could not be loaded.")));
    document.head.append(script);
  }));

  const entry = ({ address, heading, of, text }, words) => {
    const link = document.createElement("a");
    link.href = field.dataset.root + address;
    link.append(heading);
    for (const more of [of, around(text, words)]) {
      if (!more) continue;
      const small = document.createElement("small");
      small.textContent = more;
      link.append(small);
    }
    const item = document.createElement("li");
    item.append(link);
    return item;
  };
  const search = async () => {
    const typed = wordsOf(field.value);
    list.hidden = typed.length === 0;
    pages.hidden = typed.length > 0;
    said.textContent = "";
    if (typed.length === 0) return list.replaceChildren();
    try {
      const { words, found } = ranked(typed, await loaded());
      list.replaceChildren(...found.slice(0, MOST).map((section) => entry(section, words)));
      const instead = words.join(" ") === typed.join(" ") ? "" : ` for "${words.join(" ")}"`;
      said.textContent = found.length > MOST ? `The first ${MOST} of ${found.length} places${instead}` : `${found.length || "No"} place${found.length === 1 ? "" : "s"}${instead}`;
    } catch (error) {
      said.textContent = error.message;
    }
  };
  field.addEventListener("focus", () => loaded().catch(() => {}), { once: true });
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") list.querySelector("a")?.click();
  });
}
