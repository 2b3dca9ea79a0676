// "Watch it learn": other questions and other steps in the places of the still.
for (const watch of document.querySelectorAll(".watch")) {
  const record = JSON.parse(watch.querySelector("script[type='application/json']").textContent);
  const form = watch.querySelector("form");
  const { prompt: chosen, step: slider, play } = form.elements;
  const put = (place, text) => {
    watch.querySelector(`[data-${place}]`).textContent = text;
  };
  const summary = (rewards) => {
    const right = rewards.reduce((sum, reward) => sum + reward, 0);
    if (right === 0) return "All eight are wrong: every advantage is 0, and this group teaches nothing.";
    if (right === rewards.length) return "All eight are right: every advantage is 0, and this group teaches nothing more.";
    return `${right} of ${rewards.length} are right: they become likelier, the others less likely.`;
  };
  const show = () => {
    const look = Number(slider.value);
    const prompt = record.prompts[Number(chosen.value)];
    const group = prompt.groups[look];
    put("question", prompt.prompt.split("\n")[0]);
    put("answer", prompt.answer);
    put("step", record.steps[look]);
    put("probability", prompt.probabilities[look].toFixed(3));
    put("held-out", record.held_out[look].toFixed(3));
    form.elements.shown.textContent = record.steps[look];
    slider.setAttribute("aria-valuetext", `step ${record.steps[look]}`);
    watch.querySelector(".said").textContent = summary(group.rewards);
    watch.querySelectorAll("tbody tr").forEach((row, number) => {
      const advantage = group.advantages[number];
      row.className = group.rewards[number] ? "right" : "wrong";
      row.querySelector("code").textContent = group.completions[number].trim() || "(nothing)";
      row.cells[1].textContent = group.rewards[number];
      row.querySelector(".bar").style.setProperty("--a", advantage);
      row.querySelector(".number").textContent = (advantage < 0 ? "" : "+") + advantage.toFixed(2);
    });
    watch.querySelectorAll("polyline").forEach((line, number) => {
      line.classList.toggle("here", number === Number(chosen.value));
    });
    const line = watch.querySelector(".cursor");
    const x = 40 + (590 * record.steps[look]) / record.steps.at(-1);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
  };
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    play.textContent = "Play";
  };
  const next = () => {
    slider.value = Number(slider.value) + 1;
    show();
    if (slider.value === slider.max) stop();
  };
  play.addEventListener("click", () => {
    if (playing !== null) return stop();
    if (slider.value === slider.max) slider.value = 0;
    show();
    play.textContent = "Stop";
    playing = setInterval(next, 900);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  slider.addEventListener("input", () => { stop(); show(); });
  chosen.addEventListener("change", () => { stop(); show(); });
  form.hidden = false;
  show();
}
