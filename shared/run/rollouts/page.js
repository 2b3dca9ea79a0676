// The page of a run's completions. Texts of the model become text nodes and nothing else: nothing here reads HTML.
(() => {
  const AT_ONCE = 20; // groups that are put into the page together
  const STEPS_AT_ONCE = 30;
  const DOTS = 40; // steps up to which the line of rewards has one for each
  const PROMPTS_LISTED = 1000; // the search finds the others
  const SVG = "http://www.w3.org/2000/svg";
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.querySelector("form");
  const field = form.elements;
  const place = (name) => document.querySelector(`[data-${name}]`);

  // One object for each group and completion, with names.
  const groups = data.shown.map((group) => ({
    ...group,
    text: data.prompts[group.prompt],
    completions: group.completions.map(([text, rewards, reward, advantage, length, truncated]) => ({
      text, rewards, reward, advantage, length, truncated,
    })),
  }));
  const steps = [...new Set(groups.map((group) => group.step))].sort((a, b) => a - b);
  const size = (some) => some.reduce((sum, group) => sum + group.completions.length, 0);
  const largest = groups.reduce(
    (most, group) => group.completions.reduce((so, one) => Math.max(so, Math.abs(one.advantage ?? 0)), most), 1e-9);

  // Small helpers.
  const whole = (number) => number.toLocaleString("en");
  const count = (number, word) => `${whole(number)} ${word}${number === 1 ? "" : "s"}`;
  const shown = (number, sign = false) =>
    number === null ? "none"
      : Number.isInteger(number) && !sign ? String(number)
      : (sign && number > 0 ? "+" : "") + number.toFixed(Math.abs(number) < 100 ? 3 : 1);
  const mean = (numbers) => (numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : null);
  const make = (tag, className = "", ...children) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children);
    return element;
  };
  const drawn = (tag, attributes, text = "") => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    return element;
  };
  // A name that may go on in the next line behind each of its underscores.
  const breakable = (name) => name.split(/(?<=_)/).flatMap((part) => [part, make("wbr")]);
  const tone = (one) => (one.advantage > 0 ? "up" : one.advantage < 0 ? "down" : "even");

  // What is chosen.
  const number = (input) => (input.value === "" ? null : Number(input.value));
  const which = () => (field.reward.value === "" ? null : Number(field.reward.value));
  const rewardOf = (one) => (which() === null ? one.reward : one.rewards[which()]);
  const meanOf = (group) => mean(group.completions.map(rewardOf).filter((reward) => reward !== null));
  const spreadOf = (group) => {
    const rewards = group.completions.map(rewardOf).filter((reward) => reward !== null);
    return rewards.length ? Math.max(...rewards) - Math.min(...rewards) : -1;
  };
  const words = () => field.search.value.trim().toLowerCase();
  const lower = (thing) => (thing.lower ??= thing.text.toLowerCase());
  // Functions that say of a group and of a completion whether they are among those chosen.
  const chosen = () => {
    const [from, to, low, high] = [field.from, field.to, field.low, field.high].map(number);
    const searched = words();
    const prompt = field.prompt.value === "" ? null : Number(field.prompt.value);
    const ofCompletions = searched !== "" || low !== null || high !== null || field.cut.checked;
    const group = (one) =>
      (from === null || one.step >= from) &&
      (to === null || one.step <= to) &&
      (prompt === null || one.prompt === prompt);
    const completion = (one, group) => {
      const reward = rewardOf(one);
      return (
        (searched === "" || lower(one).includes(searched) || lower(group).includes(searched)) &&
        (low === null || (reward !== null && reward >= low)) &&
        (high === null || (reward !== null && reward <= high)) &&
        (!field.cut.checked || one.truncated)
      );
    };
    return { group, completion, ofCompletions, prompt };
  };
  const ORDERS = {
    first: (a, b) => a.step - b.step,
    last: (a, b) => b.step - a.step,
    worst: (a, b) => (meanOf(a) ?? Infinity) - (meanOf(b) ?? Infinity),
    best: (a, b) => (meanOf(b) ?? -Infinity) - (meanOf(a) ?? -Infinity),
    spread: (a, b) => spreadOf(b) - spreadOf(a),
  };

  // Texts. What was searched for is marked.
  const texts = (text) => {
    const searched = words();
    const parts = [];
    let at = 0;
    const where = text.toLowerCase();
    // Some letters have a lower case of another length; then nothing is marked.
    if (searched && where.length === text.length) {
      for (let found = where.indexOf(searched); found >= 0; found = where.indexOf(searched, at)) {
        parts.push(text.slice(at, found), make("mark", "", text.slice(found, found + searched.length)));
        at = found + searched.length;
      }
    }
    return [...parts, text.slice(at)];
  };
  const written = (text, className = "") => {
    const nothing = text.trim() === "";
    const element = make("pre", nothing ? "nothing" : className, ...(nothing ? ["(nothing)"] : texts(text)));
    element.dir = "auto"; // letters that turn the direction of writing turn it in here alone
    return element;
  };
  // A box that scrolls can be reached by keys; asked after it is in the page.
  const reachable = (box) => {
    for (const pre of box.querySelectorAll("pre")) if (pre.scrollHeight > pre.clientHeight + 1) pre.tabIndex = 0;
  };

  // A group side by side.
  const figures = (one) => {
    const list = make("dl", "figures");
    const line = (name, value, className = "") =>
      list.append(make("dt", className, ...breakable(name)), make("dd", className, value));
    if (data.rewards.length > 1) data.rewards.forEach((name, i) => line(name, shown(one.rewards[i])));
    line("reward", shown(one.reward), "sum");
    line("advantage", one.advantage === null ? "none" : shown(one.advantage, true));
    const bar = make("div", "bar", make("i"));
    bar.firstChild.style.setProperty("--size", (one.advantage ?? 0) / largest);
    list.append(bar);
    line(one.truncated ? "tokens, cut off" : "tokens", String(one.length), one.truncated ? "cut" : "");
    return list;
  };
  const columnsOf = (group) => {
    const list = make("dl", "columns");
    for (const [name, value] of Object.entries(group.columns)) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      list.append(make("div", "", make("dt", "", name), make("dd", "", text)));
    }
    return list;
  };
  const matchingOf = (group, choice) => group.completions.filter((one) => choice.completion(one, group));
  const article = (group, choice) => {
    const only = make("button", "", "Over the run");
    only.type = "button";
    only.addEventListener("click", () => choosePrompt(group.prompt));
    const head = make("header", "", make("h3", "", `Step ${group.step}`));
    head.append(make("span", "", count(group.completions.length, "completion")));
    head.append(make("span", "", `mean reward ${shown(meanOf(group))}`));
    if (choice.prompt === null) head.append(only);
    const side = make("ol", "side");
    const matching = choice.ofCompletions ? matchingOf(group, choice) : [];
    for (const one of group.completions) {
      const found = matching.length < group.completions.length && matching.includes(one);
      side.append(make("li", tone(one) + (found ? " found" : ""), written(one.text), figures(one)));
    }
    const box = make("article", "", head);
    if (choice.prompt === null) box.append(written(group.text, "prompt"));
    box.append(columnsOf(group), side);
    return box;
  };

  // One prompt over the run: for each step its different completions, the most frequent first.
  const overTheRun = (prompt, all = false) => {
    place("run").hidden = prompt === null;
    if (prompt === null) return;
    place("run-prompt").replaceChildren(...texts(data.prompts[prompt]));
    const bySteps = new Map();
    for (const group of groups) {
      if (group.prompt !== prompt) continue;
      bySteps.set(group.step, [...(bySteps.get(group.step) || []), ...group.completions]);
    }
    const entries = [...bySteps].sort(([a], [b]) => a - b);
    // Of many steps some, evenly, the first and the last among them.
    const distance = (entries.length - 1) / (STEPS_AT_ONCE - 1);
    const few = all || entries.length <= STEPS_AT_ONCE ? entries
      : Array.from({ length: STEPS_AT_ONCE }, (_, i) => entries[Math.round(i * distance)]);
    place("run-steps").replaceChildren(...few.map(([step, completions]) => {
      const different = new Map();
      for (const one of completions) {
        const key = JSON.stringify([one.text, rewardOf(one)]);
        different.set(key, [...(different.get(key) || []), one]);
      }
      const list = make("ul");
      for (const same of [...different.values()].sort((a, b) => b.length - a.length)) {
        const [one] = same;
        const times = make("small", "", `${same.length} ×`);
        list.append(make("li", tone(one), times, written(one.text), make("small", "", shown(rewardOf(one)))));
      }
      const head = make("span", "", make("b", "", `Step ${step}`), `mean ${shown(meanOf({ completions }))}`);
      return make("li", "", head, list);
    }));
    reachable(place("run-steps"));
    place("run-all").hidden = few.length === entries.length;
    place("run-all").textContent = `Show all ${entries.length} steps`;
  };

  // The mean reward of each step, of all groups or of the chosen prompt's; a click chooses a step.
  const EDGE = { left: 46, right: 0, top: 8, bottom: 122 }; // pixels; the right one is that of the window
  const [first, last] = [steps[0], steps[steps.length - 1]];
  const across = (step) =>
    EDGE.left + (EDGE.right - EDGE.left) * (first === last ? 0.5 : (step - first) / (last - first));
  const chart = (prompt) => {
    const sums = new Map();
    for (const group of groups) {
      if (prompt !== null && group.prompt !== prompt) continue;
      for (const one of group.completions) {
        const reward = rewardOf(one);
        if (reward === null) continue;
        const [sum, many] = sums.get(group.step) || [0, 0];
        sums.set(group.step, [sum + reward, many + 1]);
      }
    }
    const points = [...sums].map(([step, [sum, many]]) => [step, sum / many]).sort(([a], [b]) => a - b);
    const values = points.map(([, value]) => value);
    let [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
    if (low === high) high = low + 1;
    const up = (value) => EDGE.bottom - ((EDGE.bottom - EDGE.top) * (value - low)) / (high - low);
    const svg = place("chart");
    svg.replaceChildren();
    EDGE.right = svg.clientWidth - 10;
    svg.setAttribute("viewBox", `0 0 ${svg.clientWidth} 150`);
    const [from, to] = [number(field.from) ?? first, number(field.to) ?? last];
    if (field.from.value || field.to.value) {
      const left = Math.max(EDGE.left, across(from)) - 4;
      const width = Math.max(0, Math.min(EDGE.right, across(to)) + 4 - left);
      svg.append(drawn("rect", { class: "chosen", x: left, width, y: EDGE.top, height: EDGE.bottom - EDGE.top }));
    }
    for (const value of [low, high]) {
      svg.append(drawn("line", { class: "axis", x1: EDGE.left, x2: EDGE.right, y1: up(value), y2: up(value) }));
      const name = String(Number(value.toFixed(2)));
      svg.append(drawn("text", { x: EDGE.left - 6, y: up(value) + 4, "text-anchor": "end" }, name));
    }
    svg.append(drawn("text", { x: EDGE.left, y: 145 }, `step ${first}`));
    if (first !== last) svg.append(drawn("text", { x: EDGE.right, y: 145, "text-anchor": "end" }, `step ${last}`));
    const dots = points.map(([step, value]) => [across(step).toFixed(1), up(value).toFixed(1)]);
    svg.append(drawn("polyline", { points: dots.map((dot) => dot.join(",")).join(" ") }));
    if (dots.length <= DOTS) svg.append(...dots.map(([cx, cy]) => drawn("circle", { cx, cy, r: 3 })));
    const name = which() === null ? "reward" : data.rewards[which()];
    const label = `Mean ${name} of the completions ${prompt === null ? "" : "to this prompt "}by step`;
    const ends = points.length ? [points[0], points[points.length - 1]] : [];
    svg.setAttribute("aria-label", [label, ...ends.map(([step, value]) => `${shown(value)} at step ${step}`)].join(", "));
    place("caption").textContent = `${label}. A click shows one step.`;
  };

  // The whole page for what is chosen.
  let waiting = [];
  let choice = chosen();
  const more = () => {
    const now = waiting.splice(0, AT_ONCE).map((group) => article(group, choice));
    place("groups").append(...now);
    now.forEach(reachable);
    place("more").hidden = !waiting.length;
    place("more").textContent = `Show ${count(Math.min(AT_ONCE, waiting.length), "more group")}`;
  };
  const draw = () => {
    choice = chosen();
    const found = groups.filter((group) => choice.group(group) && matchingOf(group, choice).length);
    const matching = found.reduce((sum, group) => sum + matchingOf(group, choice).length, 0);
    waiting = found.sort(ORDERS[field.order.value]);
    const ofGroups = `${count(found.length, "group")} of ${whole(groups.length)}`;
    const parts = [ofGroups, `${count(matching, "completion")} of ${whole(size(groups))}`];
    if (choice.ofCompletions) parts.push("outlined in their groups");
    const said = found.length ? `${parts.join(", ")}.` : "Nothing is like that. Take a condition away.";
    place("count").textContent = said;
    place("groups").replaceChildren();
    chart(choice.prompt);
    overTheRun(choice.prompt);
    more();
  };
  // The beginning that all prompts share, up to a space, tells none from another: the list leaves it out.
  const common = data.prompts.reduce((start, prompt) => {
    let same = 0;
    while (same < start.length && start[same] === prompt[same]) same += 1;
    return start.slice(0, same);
  });
  const alike = data.prompts.length > 1 ? common.search(/\s\S*$/) + 1 : 0;
  const choosePrompt = (prompt) => {
    if (!field.prompt.querySelector(`option[value="${prompt}"]`)) field.prompt.append(option(prompt));
    field.prompt.value = String(prompt);
    draw();
    document.getElementById("groups").scrollIntoView();
    document.getElementById("groups").focus({ preventScroll: true });
  };
  const option = (prompt, times = null) => {
    const line = data.prompts[prompt].slice(alike).trim().replace(/\s+/g, " ") || "(nothing)";
    const short = (alike ? "… " : "") + (line.length > 70 ? `${line.slice(0, 70)} …` : line);
    return new Option(times > 1 ? `${short} (${times} groups)` : short, String(prompt));
  };

  // What does not change.
  const times = new Map();
  for (const group of groups) times.set(group.prompt, (times.get(group.prompt) || 0) + 1);
  const listed = [...times].sort(([, a], [, b]) => b - a).slice(0, PROMPTS_LISTED);
  field.prompt.append(...listed.map(([prompt, many]) => option(prompt, many)));
  if (listed.length < times.size) {
    field.prompt.options[0].text = `all ${whole(times.size)} prompts; listed are ${whole(PROMPTS_LISTED)}`;
  }
  place("rewards").hidden = data.rewards.length < 2;
  field.reward.append(...data.rewards.map((name, i) => new Option(name, String(i))));
  for (const input of [field.from, field.to]) [input.min, input.max] = [first, last];
  [field.from.placeholder, field.to.placeholder] = [first, last];
  const facts = ["completion", "group", "step"].map((word) => count(data[`${word}s`], word));
  place("facts").replaceChildren(...[data.name, ...facts].map((fact) => make("span", "", fact)));
  if (size(groups) < data.completions) {
    const here = `${whole(size(groups))} of ${count(data.completions, "completion")}`;
    place("sample").hidden = false;
    place("sample").textContent = `This is a sample: ${here}, whole groups drawn by chance. The file has all of them.`;
  }
  if (matchMedia("(max-width: 900px)").matches) form.querySelector("details").open = false;

  let soon;
  form.addEventListener("input", () => { clearTimeout(soon); soon = setTimeout(draw, 120); });
  addEventListener("resize", () => chart(choice.prompt));
  form.addEventListener("reset", () => setTimeout(draw));
  form.addEventListener("submit", (event) => event.preventDefault());
  place("more").addEventListener("click", more);
  place("run-all").addEventListener("click", () => overTheRun(choice.prompt, true));
  place("chart").addEventListener("click", (event) => {
    const box = place("chart").getBoundingClientRect();
    const wanted = event.clientX - box.left;
    const off = (step) => Math.abs(across(step) - wanted);
    const near = steps.reduce((best, step) => (off(step) < off(best) ? step : best));
    field.from.value = field.to.value = String(near);
    draw();
  });
  draw();
})();
