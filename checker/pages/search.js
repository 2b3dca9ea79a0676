// The search over the whole course, in the sidebar of the built-in pages: sections by the words of their headings and texts,
// the likeliest place first, each with the words around.
{
  // How much a place is preferred that explains: to a name of code the interface, to all else the glossary.
  const WEIGHTS = { term: 1.6, text: 1.25, interface: 1.1, notebook: 1 };
  const FOR_NAMES = { ...WEIGHTS, interface: 2.5 };

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_@]+/gu) ?? [];
  const withParts = (words) => words.flatMap((word) => (word.includes("_") ? [word, ...word.split("_").filter(Boolean)] : [word]));
  const counted = (words) => {
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  };
  // The index of sections, each with its heading, text and kind: each with the numbers of its words, and in how many
  // sections each word is.
  const prepared = (listed) => {
    const sections = listed.map((section) => ({
      ...section,
      named: counted(withParts(wordsOf(section.heading))),
      used: counted(withParts(wordsOf(section.text))),
    }));
    const spread = new Map();
    for (const { named, used } of sections) {
      for (const word of new Set([...named.keys(), ...used.keys()])) spread.set(word, (spread.get(word) ?? 0) + 1);
    }
    return { sections, spread };
  };
  // Changes of a letter, a letter too many or too few, or two that changed places, from one word to another.
  const distance = (from, to) => {
    let [older, old] = [[], Array.from({ length: to.length + 1 }, (_, place) => place)];
    for (let row = 1; row <= from.length; row++) {
      const now = [row];
      for (let column = 1; column <= to.length; column++) {
        const same = from[row - 1] === to[column - 1] ? 0 : 1;
        now[column] = Math.min(old[column] + 1, now[column - 1] + 1, old[column - 1] + same);
        const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
        if (swapped) now[column] = Math.min(now[column], older[column - 2] + 1);
      }
      [older, old] = [old, now];
    }
    return old[to.length];
  };
  // The word of the course that was meant: itself, or where none begins so, the nearest one, the commonest of these.
  const meant = (word, spread) => {
    if ([...spread.keys()].some((known) => known.startsWith(word))) return word;
    const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
    const near = [...spread.keys()]
      .filter((known) => Math.abs(known.length - word.length) <= most)
      .map((known) => [distance(word, known), -spread.get(known), known])
      .filter(([far]) => far <= most)
      .sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    return near.length > 0 ? near[0][2] : word;
  };
  // The number of times that a word stands in counted words; one that only begins so counts a third.
  const times = (word, counts) => {
    let sum = counts.get(word) ?? 0;
    for (const [known, count] of counts) if (known !== word && known.startsWith(word)) sum += count / 3;
    return sum;
  };
  const saturated = (number) => number / (number + 1);
  const score = (words, { named, used, heading, text, kind }, { sections, spread }, isName) => {
    let sum = 0;
    for (const word of words) {
      const inHeading = times(word, named);
      const inText = times(word, used);
      if (inHeading + inText === 0) return 0;
      const rare = Math.log(1 + sections.length / (spread.get(word) ?? 1));
      sum += rare * (8 * saturated(inHeading) + 2 * saturated(inText));
    }
    const whole = words.join(" ");
    const names = heading.split(", ").map((name) => wordsOf(name).join(" ")); // of a word with several, "k1, k2, k3"
    const together = words.length > 1 && [...names, wordsOf(text).join(" ")].some((said) => said.includes(whole));
    if (names.includes(whole)) sum *= 3;
    else if (together) sum *= 1.5;
    return sum * (isName ? FOR_NAMES : WEIGHTS)[kind];
  };
  // The text around the first of the words that stands in it.
  const around = (text, words) => {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    const first = places.length > 0 ? Math.min(...places) : 0;
    const begin = first < 50 ? 0 : text.indexOf(" ", first - 40) + 1;
    const end = begin + 120 < text.length ? text.lastIndexOf(" ", begin + 120) : text.length;
    return `${begin > 0 ? "... " : ""}${text.slice(begin, end)}${end < text.length ? " ..." : ""}`;
  };
  // What the words of a query find in an index: the words that were meant, and the sections, the likeliest first.
  const ranked = (typed, index) => {
    const words = typed.map((word) => meant(word, index.spread));
    const isName = words.some((word) => word.includes("_"));
    const found = index.sections
      .map((section) => [score(words, section, index, isName), section])
      .filter(([points]) => points > 0)
      .sort((one, other) => other[0] - one[0] || other[1].text.length - one[1].text.length)
      .map(([, section]) => section);
    return { words, found };
  };
  const field = document.querySelector(".search input");
  const list = document.querySelector(".found");
  const pages = document.querySelector(".pages");
  const said = document.querySelector(".search-said");
  const MOST = 15;

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
