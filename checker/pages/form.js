// The rubric's form. What is filled in is kept in the browser at once, so that a reload loses nothing; it is saved as a
// small JSON file, which can be opened here again.
(() => {
  const form = document.getElementById("grades");
  const fields = [...form.querySelectorAll("[data-criterion]")];
  const comment = form.querySelector("textarea");
  const said = form.querySelector("[data-said]");
  const total = form.querySelector("[data-total]");
  const draft = `grades ${form.dataset.student}/${form.dataset.notebook}`;
  let unsaved = false;

  const score = (field) => (field.value === "" || !field.checkValidity() ? null : Number(field.value));
  const content = () => ({
    student: form.dataset.student,
    notebook: form.dataset.notebook,
    scores: Object.fromEntries(fields.map((field) => [field.dataset.criterion, score(field)])),
    total: fields.reduce((sum, field) => sum + (score(field) || 0), 0),
    comment: comment.value,
    saved: new Date().toISOString(),
  });
  const show = () => {
    const graded = fields.filter((field) => score(field) !== null).length;
    const points = Math.round(100 * content().total) / 100;
    total.textContent = `${points} points, ${graded} of ${fields.length} fields filled`;
  };
  const fill = (from) => {
    for (const field of fields) {
      const value = from.scores[field.dataset.criterion];
      field.value = value === null || value === undefined ? "" : String(value);
    }
    comment.value = from.comment || "";
    show();
  };
  const keep = () => {
    try {
      localStorage.setItem(draft, JSON.stringify(content()));
    } catch {
      said.textContent = "This browser keeps no drafts: save before you leave.";
    }
  };
  const restore = () => {
    try {
      const kept = localStorage.getItem(draft);
      if (kept === null) return;
      const before = JSON.parse(kept);
      fill(before);
      said.textContent = `As you left it at ${new Date(before.saved).toLocaleString()}.`;
    } catch {
      said.textContent = "A draft was here and cannot be read.";
    }
  };

  form.addEventListener("input", (event) => {
    if (event.target.type === "file") return;
    unsaved = true;
    keep();
    show();
  });
  const chooser = document.createElement("input");
  chooser.type = "file";
  chooser.accept = ".json";
  chooser.hidden = true;
  form.append(chooser);
  document.getElementById("open-grades").addEventListener("click", () => chooser.click());
  chooser.addEventListener("change", async (event) => {
    const file = event.target.files[0];
    if (!file) return;
    try {
      const from = JSON.parse(await file.text());
      const whose = `${from.student || ""}/${from.notebook}`;
      if (whose !== `${form.dataset.student}/${form.dataset.notebook}`) {
        said.textContent = `${file.name} is the form of ${whose}. It was not opened.`;
      } else {
        fill(from);
        keep();
        unsaved = false;
        said.textContent = `${file.name} is open.`;
      }
    } catch {
      said.textContent = `${file.name} is not a saved form.`;
    }
    event.target.value = "";
  });
  document.getElementById("save-grades").addEventListener("click", () => {
    const wrong = fields.find((field) => !field.checkValidity());
    if (wrong) {
      wrong.reportValidity();
      said.textContent = `${wrong.dataset.criterion}: give 0 to ${wrong.max} points. Nothing was saved.`;
      return;
    }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(content(), null, 2)], { type: "application/json" }));
    const name = form.dataset.student ? `${form.dataset.student} ${form.dataset.notebook}` : form.dataset.notebook;
    link.download = name.replace(/\.ipynb$/, "").replace(/[^\p{L}\p{N} .-]/gu, "_") + ".grades.json";
    link.click();
    unsaved = false;
    said.textContent = `Saved as ${link.download}.`;
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  restore();
  show();
})();
