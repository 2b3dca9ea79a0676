// One question, judged for a whole class by keyboard. Points and comments go into the drafts of the students' own pages
// (drafts.js), at once, so that a reload loses nothing; they are saved as one small JSON file.
(() => {
  const root = document.getElementById("question");
  const { notebook, field, points } = root.dataset;
  const said = root.querySelector("[data-said]");
  const progress = root.querySelector("[data-progress]");
  const reusable = document.querySelector("[data-reusable]");
  const answers = [...root.querySelectorAll("article.answer")].map((article) => ({
    article,
    student: article.dataset.student,
    score: article.querySelector("input"),
    comment: article.querySelector("textarea"),
    blank: "blank" in article.dataset,
    refused: article.querySelector(".refused"),
  }));
  const phrases = [];
  const latest = {}; // drafts of this page by student, which a browser without localStorage would forget
  let current = 0;
  let unsaved = false;
  let asksWhich = false; // after "r": the next digit names a comment

  // Drafts.
  const draftOf = (student) => {
    try {
      return drafts.read(student, notebook) || latest[student] || {};
    } catch {
      return latest[student] || {};
    }
  };
  const number = (answer) =>
    answer.score.value === "" || !answer.score.checkValidity() ? null : Number(answer.score.value);
  const isJudgedIn = (draft) => field in (draft.scores || {}) || field in (draft.comments || {});
  const keep = (answer) => {
    const draft = draftOf(answer.student);
    draft.student = answer.student;
    draft.notebook = notebook;
    // A comment alone says nothing about points.
    if (number(answer) !== null || field in (draft.scores || {})) {
      draft.scores = { ...draft.scores, [field]: number(answer) };
    }
    draft.comments = { ...draft.comments, [field]: answer.comment.value };
    draft.saved = new Date().toISOString();
    latest[answer.student] = draft;
    unsaved = true;
    said.textContent = drafts.write(draft) || said.textContent;
  };
  const fill = (answer, from) => {
    const score = from.scores?.[field];
    answer.score.value = score === null || score === undefined ? "" : String(score);
    answer.comment.value = from.comments?.[field] || "";
    judge(answer);
  };
  // What an earlier run counted stands in the page; a draft counts where it is later.
  const restore = (answer) => {
    const draft = draftOf(answer.student);
    const counted = Math.round(1000 * Number(answer.article.dataset.saved));
    if (isJudgedIn(draft) && Date.parse(draft.saved) >= counted) fill(answer, draft);
  };

  // What is shown of an answer, and of all.
  const refusal = (value) => `${value} is refused: the question is worth ${points}. Give 0 to ${points}.`;
  const judge = (answer) => {
    const wrong = !answer.score.checkValidity();
    answer.refused.textContent = wrong ? `${refusal(answer.score.value || "This")} No points are kept.` : "";
    answer.score.setAttribute("aria-invalid", String(wrong));
    answer.article.classList.toggle("judged", number(answer) !== null);
    const judged = answers.filter((one) => number(one) !== null).length;
    progress.textContent = `${judged} of ${answers.length} judged`;
  };
  const isTyping = (target) => target.matches("input, textarea");
  const goTo = (index) => {
    if (index < 0 || index >= answers.length) {
      said.textContent = index < 0 ? "This is the first answer." : "This was the last answer. s saves.";
      return;
    }
    current = index;
    for (const one of answers) one.article.classList.toggle("current", one === answers[current]);
    answers[current].article.focus({ preventScroll: true });
    answers[current].article.scrollIntoView({ block: "start", behavior: "instant" });
  };
  const give = (answer, value) => {
    if (Number(value) > Number(points)) {
      answer.refused.textContent = `${refusal(value)} The points stay as they were.`;
      return;
    }
    answer.score.value = value;
    judge(answer);
    keep(answer);
  };

  // Comments that were given once.
  const remember = (text) => {
    const phrase = text.trim();
    if (phrase === "" || phrases.includes(phrase)) return;
    phrases.push(phrase);
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = phrase;
    button.addEventListener("click", () => reuse(phrases.indexOf(phrase)));
    const item = document.createElement("li");
    item.append(button);
    reusable.append(item);
    document.querySelector("[data-none]").hidden = true;
  };
  const reuse = (index) => {
    const answer = answers[current];
    if (index >= phrases.length) {
      said.textContent = `There is no comment ${index + 1} yet.`;
      return;
    }
    const before = answer.comment.value.trim();
    if (!before.includes(phrases[index])) answer.comment.value = `${before}\n${phrases[index]}`.trim();
    grow(answer);
    keep(answer);
    answer.article.focus({ preventScroll: true });
  };
  const grow = (answer) => {
    answer.comment.rows = Math.min(8, answer.comment.value.split("\n").length);
  };

  // Saving and opening.
  const entry = (answer) => {
    const draft = draftOf(answer.student);
    const scores = field in (draft.scores || {}) ? { [field]: number(answer) } : {};
    const comments = { [field]: answer.comment.value };
    return { student: answer.student, notebook, question: field, scores, comments, comment: "", saved: draft.saved };
  };
  const save = () => {
    const wrong = answers.find((answer) => !answer.score.checkValidity());
    if (wrong) {
      goTo(answers.indexOf(wrong));
      said.textContent = `${wrong.student}: give 0 to ${points} points. Nothing was saved.`;
      return;
    }
    const forms = answers.filter((answer) => isJudgedIn(draftOf(answer.student))).map(entry);
    if (forms.length === 0) {
      said.textContent = "Nothing was judged here yet. Nothing was saved.";
      return;
    }
    const saved = drafts.save(`${notebook.replace(/\.ipynb$/, "")} ${field}`, { forms });
    unsaved = false;
    said.textContent = `Saved as ${saved}: ${forms.length} of ${answers.length} answers.`;
  };
  const open = (from, file) => {
    const forms = from.forms.filter((one) => one.notebook === notebook && one.question === field);
    let opened = 0;
    for (const answer of answers) {
      const form = forms.find((one) => one.student === answer.student);
      if (!form) continue;
      fill(answer, form);
      remember(answer.comment.value);
      keep(answer);
      opened += 1;
    }
    unsaved = false;
    said.textContent = opened
      ? `${file} is open: ${opened} answers.`
      : `${file} holds no answers to this question. It was not opened.`;
  };
  drafts.whenOpened(root, open, (reason) => {
    said.textContent = reason;
  });
  document.getElementById("save-grades").addEventListener("click", save);

  // Keys.
  const half = (answer) => give(answer, String((number(answer) ?? 0) + 0.5));
  const unjudged = () => {
    const after = [...answers.slice(current + 1), ...answers.slice(0, current + 1)];
    const next = after.find((answer) => number(answer) === null);
    if (next) goTo(answers.indexOf(next));
    else said.textContent = "Every answer has its points. s saves.";
  };
  // Where nothing was written 0 is proposed; one key takes it for all of them that have no points yet.
  const blanks = () => {
    const waiting = answers.filter((answer) => answer.blank && number(answer) === null);
    for (const answer of waiting) give(answer, "0");
    said.textContent = `${waiting.length} blank answers have 0 points now.`;
  };
  for (const answer of answers) if (answer.blank) answer.score.placeholder = "0";
  const actions = {
    b: blanks,
    j: () => goTo(current + 1),
    k: () => goTo(current - 1),
    u: unjudged,
    h: () => half(answers[current]),
    c: () => answers[current].comment.focus(),
    p: () => answers[current].score.select(),
    s: save,
    r: () => {
      asksWhich = true;
      said.textContent = "Which of your comments? Press its number.";
    },
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      const leaves = event.key === "Escape" || (event.key === "Enter" && event.target.matches("input"));
      if (leaves) {
        event.preventDefault();
        goTo(current);
      }
      return;
    }
    const isDigit = /^[0-9]$/.test(event.key);
    if (!isDigit && !(event.key in actions)) return;
    event.preventDefault();
    if (isDigit && asksWhich) {
      asksWhich = false;
      said.textContent = "";
      reuse(Number(event.key) - 1);
    } else if (isDigit) {
      said.textContent = "";
      give(answers[current], event.key);
    } else {
      asksWhich = false;
      said.textContent = "";
      actions[event.key]();
    }
  });
  answers.forEach((answer, index) => {
    answer.article.addEventListener("focusin", () => {
      current = index;
      for (const one of answers) one.article.classList.toggle("current", one === answer);
    });
    answer.article.addEventListener("input", () => {
      judge(answer);
      grow(answer);
      keep(answer);
    });
    answer.comment.addEventListener("change", () => remember(answer.comment.value));
  });
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  window.addEventListener("storage", (event) => {
    const answer = answers.find((one) => drafts.key(one.student, notebook) === event.key);
    if (answer) restore(answer); // the student's own page wrote it
  });
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) answers.forEach(restore);
  });
  for (const answer of answers) {
    restore(answer);
    judge(answer);
    grow(answer);
    remember(answer.comment.value);
  }
  goTo(Math.max(0, answers.findIndex((answer) => number(answer) === null)));
})();
