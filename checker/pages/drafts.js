// The drafts of forms, and the files in which forms are saved: what a student's page (form.js), the page of a question
// (judge.js) and the index of a class (class.js) have in common. A draft is a form's content as JSON. The browser keeps
// one for each student's notebook, which all three pages share.
const drafts = (() => {
  const key = (student, notebook) => `grades ${student}/${notebook}`;
  // The draft; null where there is none. Throws where it cannot be read.
  const read = (student, notebook) => JSON.parse(localStorage.getItem(key(student, notebook)));
  // Returns what there is to say of it: nothing, or that the browser keeps none.
  const write = (draft) => {
    try {
      localStorage.setItem(key(draft.student, draft.notebook), JSON.stringify(draft));
      return "";
    } catch {
      return "This browser keeps no drafts: save before you leave.";
    }
  };
  // Saves JSON as a file; returns the file's name.
  const save = (name, content) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
    link.download = name.replace(/[^\p{L}\p{N} .-]/gu, "_").slice(0, 100) + ".grades.json";
    link.click();
    return link.download;
  };
  // Lets the button "Open ..." choose a file, whose content `open` is given; `refuse` is given the name of a damaged one.
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
        open(JSON.parse(await file.text()), file.name);
      } catch {
        refuse(`${file.name} is not a saved form.`);
      }
      chooser.value = "";
    });
  };
  return { key, read, write, save, whenOpened };
})();
