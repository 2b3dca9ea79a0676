// Quarto's search asks Fuse, a library beside it, which documents fit. On the course's pages ranking.js answers instead:
// the same places come first as on the built-in pages, and Quarto's panel shows them.
{
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
  const escaped = (text) => text.replace(/[&<>]/g, (sign) => ESCAPES[sign]); // the panel takes texts for HTML
  const pageOf = (address) => address.split("#")[0];
  const documents = [];
  let index;

  // A page itself stays where it comes before its sections: the panel would put it above them wherever it is.
  const withoutLaterPages = (found) => {
    const seen = new Set();
    return found.filter(({ address }) => {
      const page = pageOf(address);
      const later = seen.has(page) && page === address;
      seen.add(page);
      return !later;
    });
  };

  globalThis.Fuse = class {
    // After a slow search Quarto makes another one of what it found. This one searches everything at all times.
    add({ href, title, section, text, kind }) {
      if (index === undefined) documents.push({ address: href, title, section, text, kind, heading: section || title });
    }

    search(query, { limit }) {
      const { wordsOf, prepared, ranked, around } = globalThis.ranking;
      index ??= prepared(documents);
      const typed = wordsOf(query);
      if (typed.length === 0) return [];
      const { words, found } = ranked(typed, index);
      return withoutLaterPages(found).slice(0, limit).map(({ address, title, section, text }) => (
        { item: { href: address, title, section, text: escaped(around(text, words)) } }));
    }
  };
}
