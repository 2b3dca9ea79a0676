// The rubric's form. What is filled in is kept in the browser at once, so that a reload loses nothing; it is saved as a
// small JSON file, which can be opened here again. The pages of questions write into the same draft (drafts.js).
(() => {
  const form = document.getElementById("grades");
  const fields = [...form.querySelectorAll("[data-criterion]")];
  const comments = [...form.querySelectorAll("[data-comment]")];
  const comment = form.querySelector("textarea:not([data-comment])");
  const said = form.querySelector("[data-said]");
  const total = form.querySelector("[data-total]");
  const { student, notebook } = form.dataset;
  let unsaved = false;
  let kept = {}; // the draft as it was last read or written

  const score = (field) => (field.value === "" || !field.checkValidity() ? null : Number(field.value));
  const content = () => ({
    student,
    notebook,
    scores: Object.fromEntries(fields.map((field) => [field.dataset.criterion, score(field)])),
    total: fields.reduce((sum, field) => sum + (score(field) || 0), 0),
    comments: Object.fromEntries(comments.map((field) => [field.dataset.comment, field.value])),
    comment: comment.value,
    saved: new Date().toISOString(),
  });
  const refused = (field) => `${field.dataset.criterion}: give 0 to ${field.max} points.`;
  const show = () => {
    const graded = fields.filter((field) => score(field) !== null).length;
    const points = Math.round(100 * content().total) / 100;
    total.textContent = `${points} points, ${graded} of ${fields.length} fields filled`;
  };
  const fill = (from) => {
    for (const field of fields) {
      const value = from.scores?.[field.dataset.criterion];
      field.value = value === null || value === undefined ? "" : String(value);
    }
    for (const field of comments) field.value = from.comments?.[field.dataset.comment] || "";
    comment.value = from.comment || "";
    show();
  };
  // Of a field that was never filled in a draft says nothing: to a question's page that is not judged, and not emptied.
  const told = (all, before = {}) =>
    Object.fromEntries(Object.entries(all).filter(([name, value]) => value || value === 0 || name in before));
  const keep = () => {
    const now = content();
    now.scores = told(now.scores, kept.scores);
    now.comments = told(now.comments, kept.comments);
    kept = now;
    said.textContent = drafts.write(now);
  };
  const restore = () => {
    try {
      const found = drafts.read(student, notebook);
      if (found === null) return;
      kept = found;
      fill(kept);
      said.textContent = `As you left it at ${new Date(kept.saved).toLocaleString()}.`;
    } catch {
      said.textContent = "A draft was here and cannot be read.";
    }
  };

  form.addEventListener("input", (event) => {
    if (event.target.type === "file") return;
    unsaved = true;
    keep();
    show();
    if (!event.target.checkValidity()) said.textContent = refused(event.target);
  });
  const open = (from, file) => {
    const whose = `${from.student || ""}/${from.notebook}`;
    if (whose !== `${student}/${notebook}`) {
      said.textContent = `${file} is the form of ${whose}. It was not opened.`;
      return;
    }
    fill(from);
    keep();
    unsaved = false;
    said.textContent = `${file} is open.`;
  };
  drafts.whenOpened(form, open, (reason) => {
    said.textContent = reason;
  });
  document.getElementById("save-grades").addEventListener("click", () => {
    const wrong = fields.find((field) => !field.checkValidity());
    if (wrong) {
      wrong.reportValidity();
      said.textContent = `${refused(wrong)} Nothing was saved.`;
      return;
    }
    const saved = drafts.save(`${student} ${notebook}`.trim().replace(/\.ipynb$/, ""), content());
    unsaved = false;
    said.textContent = `Saved as ${saved}.`;
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  window.addEventListener("storage", (event) => {
    if (event.key === drafts.key(student, notebook)) restore(); // another page of the class wrote it
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) restore();
  });
  restore();
  show();
})();
