// The grid world's policy: other iterations of the fit in the places of the still.
for (const grid of document.querySelectorAll(".gridworld")) {
  const record = JSON.parse(grid.querySelector("script[type='application/json']").textContent);
  const form = grid.querySelector("form");
  const { look: slider, play, shown } = form.elements;
  const put = (place, text) => {
    grid.querySelector(`[data-${place}]`).textContent = text;
  };
  const show = () => {
    const look = record.looks[Number(slider.value)];
    const most = Math.max(...look.reward.map(Math.abs)) || 1;
    put("iteration", look.iteration);
    put("earned", look.earned.toFixed(3));
    put("gap", look.gap.toFixed(3));
    shown.textContent = look.iteration;
    slider.setAttribute("aria-valuetext", `iteration ${look.iteration}`);
    for (const state of grid.querySelectorAll("[data-map=found] [data-state]")) {
      const number = Number(state.dataset.state);
      const paid = look.reward[number];
      state.setAttribute("class", paid > 0 ? "gain" : "cost");
      state.style.setProperty("--r", Math.abs(paid) / most);
      state.querySelector("text").textContent = paid.toFixed(2);
      state.querySelectorAll("path").forEach((arrow, action) => {
        arrow.style.setProperty("--p", look.policy[number][action]);
      });
    }
  };
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    play.textContent = "Play";
  };
  play.addEventListener("click", () => {
    if (playing !== null) return stop();
    if (slider.value === slider.max) slider.value = 0;
    show();
    play.textContent = "Stop";
    playing = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      show();
      if (slider.value === slider.max) stop();
    }, 900);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  slider.addEventListener("input", () => { stop(); show(); });
  form.hidden = false;
  show();
}
