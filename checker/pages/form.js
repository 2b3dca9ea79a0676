document.getElementById("save-grades").addEventListener("click", () => {
  const form = document.getElementById("grades");
  const scores = {};
  for (const field of form.querySelectorAll("select[data-criterion]")) {
    scores[field.dataset.criterion] = field.value === "" ? null : Number(field.value);
  }
  const content = { notebook: form.dataset.notebook, scores, comment: form.querySelector("textarea").value };
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  link.download = form.dataset.notebook.replace(/[\\/]/g, "_").replace(/\.ipynb$/, "") + ".grades.json";
  link.click();
});
