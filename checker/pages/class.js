// What was judged in this browser and is not in the table yet: the drafts of the forms (drafts.js).
(() => {
  const byQuestion = {};
  for (const row of document.querySelectorAll("tr[data-student]")) {
    const { student, notebook } = row.dataset;
    let scores = {};
    try {
      scores = drafts.read(student, notebook)?.scores || {};
    } catch {
      continue;
    }
    const given = JSON.parse(row.dataset.fields).filter((field) => typeof scores[field] === "number");
    if (given.length) row.querySelector("[data-drafts]").textContent = ` (${given.length} in drafts)`;
    for (const field of given) {
      const question = `${notebook} ${field}`;
      byQuestion[question] = (byQuestion[question] || 0) + 1;
    }
  }
  for (const row of document.querySelectorAll("tr[data-field]")) {
    const count = byQuestion[`${row.dataset.notebook} ${row.dataset.field}`];
    const place = row.querySelector("[data-drafts]");
    if (count && place) place.textContent = ` (${count} in drafts)`;
  }
})();
