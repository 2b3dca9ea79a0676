// The drafts of forms, and the files in which forms are saved: what a student's page (form.js), the page of a question
// (judge.js) and the index of a class (class.js) have in common. A draft is a form's content as JSON. The browser keeps
// one for each student's notebook, which all three pages share.
//
// The pages of a class bear its secret. All pages that are opened from a disk share one storage, so that a page which
// somebody handed in could write drafts as well: a draft counts with a seal, which nobody makes without the secret, and
// a saved form bears the secret itself.
const drafts = (() => {
  const secret = document.querySelector("[data-secret]")?.dataset.secret || "";

  // SHA-256 (FIPS 180-4), in hexadecimal. The browser's own cannot be waited for where a draft is needed.
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime)) primes.push(n);
  const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
  const rotated = (x, n) => (x >>> n) | (x << (32 - n));
  const padded = (text) => {
    const bytes = new TextEncoder().encode(text);
    const view = new DataView(new ArrayBuffer(64 * Math.ceil((bytes.length + 9) / 64)));
    bytes.forEach((byte, place) => view.setUint8(place, byte));
    view.setUint8(bytes.length, 0x80);
    view.setBigUint64(view.byteLength - 8, BigInt(8 * bytes.length));
    return view;
  };
  const sha256 = (text) => {
    const view = padded(text);
    let state = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
    for (let begin = 0; begin < view.byteLength; begin += 64) {
      const words = [];
      let [a, b, c, d, e, f, g, h] = state;
      for (let round = 0; round < 64; round += 1) {
        if (round < 16) words.push(view.getInt32(begin + 4 * round));
        else {
          const [x, y] = [words[round - 15], words[round - 2]];
          const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
          const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
          words.push((words[round - 16] + s0 + words[round - 7] + s1) | 0);
        }
        const big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
        const big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
        const constant = fraction(Math.cbrt(primes[round]));
        const first = (h + big1 + ((e & f) ^ (~e & g)) + constant + words[round]) | 0;
        const second = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [a, b, c, d, e, f, g, h] = [(first + second) | 0, a, b, c, (d + first) | 0, e, f, g];
      }
      state = [a, b, c, d, e, f, g, h].map((word, place) => (word + state[place]) | 0);
    }
    return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  };
  const seal = (text) => sha256(secret + sha256(secret + text));

  const ofClass = seal("").slice(0, 12); // two classes may have a student of one name
  const key = (student, notebook) => `grades ${ofClass} ${student}/${notebook}`;
  // The draft; null where there is none. Throws where it cannot be read, or was written by a page of somebody else's.
  const read = (student, notebook) => {
    const kept = JSON.parse(localStorage.getItem(key(student, notebook)));
    if (kept === null) return null;
    if (kept.seal !== seal(kept.draft)) throw new Error("no seal of this class");
    const draft = JSON.parse(kept.draft);
    if (draft.student !== student || draft.notebook !== notebook) throw new Error("the draft of another form");
    return draft;
  };
  // Returns what there is to say of it: nothing, or that the browser keeps none.
  const write = (content) => {
    const draft = JSON.stringify(content);
    try {
      localStorage.setItem(key(content.student, content.notebook), JSON.stringify({ draft, seal: seal(draft) }));
      return "";
    } catch {
      return "This browser keeps no drafts: save before you leave.";
    }
  };
  // Saves JSON as a file; returns the file's name.
  const save = (name, content) => {
    const link = document.createElement("a");
    const marked = secret ? { ...content, class: secret } : content;
    link.href = URL.createObjectURL(new Blob([JSON.stringify(marked, null, 2)], { type: "application/json" }));
    link.download = name.replace(/[^\p{L}\p{N} .-]/gu, "_").slice(0, 100) + ".grades.json";
    link.click();
    return link.download;
  };
  // Lets the button "Open ..." choose a file, whose content `open` is given; `refuse` is given the reason why not.
  const whenOpened = (parent, open, refuse) => {
    const chooser = document.createElement("input");
    chooser.type = "file";
    chooser.accept = ".json";
    chooser.hidden = true;
    parent.append(chooser);
    document.getElementById("open-grades").addEventListener("click", () => chooser.click());
    chooser.addEventListener("change", async () => {
      const file = chooser.files[0];
      if (!file) return;
      try {
        const content = JSON.parse(await file.text());
        if ((content.class || "") === secret) open(content, file.name);
        else refuse(`${file.name} was not saved on a page of this class. It was not opened.`);
      } catch {
        refuse(`${file.name} is not a saved form.`);
      }
      chooser.value = "";
    });
  };
  return { key, read, write, save, whenOpened };
})();
