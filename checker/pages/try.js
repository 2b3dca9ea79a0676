// "Try it": the embedded model before and after its training, run in the page by onnxruntime-web.
{
  const softmax = (logits, temperature) => {
    const most = Math.max(...logits);
    const weights = Array.from(logits, (logit) => Math.exp((logit - most) / temperature));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
  };
  const likeliest = (logits) => logits.indexOf(Math.max(...logits));
  // An index with its probability: the first whose cumulative probability exceeds a uniform number.
  const drawn = (probabilities) => {
    let left = Math.random();
    const found = probabilities.findIndex((probability) => (left -= probability) < 0);
    return found < 0 ? likeliest(probabilities) : found;
  };
  const next = (logits, temperature) => (temperature === 0 ? likeliest(logits) : drawn(softmax(logits, temperature)));
  // As shared/advantages.py: the population's standard deviation, and exactly 0 where all rewards are equal.
  const advantages = (rewards) => {
    const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length);
    if (rewards.every((reward) => reward === rewards[0])) return rewards.map(() => 0);
    return rewards.map((reward) => (reward - mean) / (deviation + 1e-4));
  };
  // As shared/tasks/matching.py: the first line that is not blank is the answer and nothing else.
  const reward = (text, answer) => {
    const line = text.split("\n").map((one) => one.trim()).find((one) => one !== "") ?? "";
    return Number(line === answer);
  };

  // A policy: the logits of the next token after rows of tokens of one length.
  const policy = (ort, session) => async (rows) => {
    const ids = BigInt64Array.from(rows.flat(), BigInt);
    const { logits } = await session.run({ ids: new ort.Tensor("int64", ids, [rows.length, rows[0].length]) });
    const V = logits.dims[1];
    return rows.map((_, row) => logits.data.subarray(row * V, (row + 1) * V));
  };
  // G completions of a prompt, as tokens. Those that are equal so far share one row of the network's work.
  const sampled = async (logitsAfter, prompt, G, temperature, { eos, longest }) => {
    const group = Array.from({ length: G }, () => []);
    for (let step = 0; step < longest; step++) {
      const open = group.filter((tokens) => tokens.at(-1) !== eos);
      if (open.length === 0) break;
      const distinct = new Map(open.map((tokens) => [tokens.join(), [...tokens]]));
      const logits = await logitsAfter([...distinct.values()].map((tokens) => [...prompt, ...tokens]));
      const place = new Map([...distinct.keys()].map((key, number) => [key, number]));
      for (const tokens of open) tokens.push(next(logits[place.get(tokens.join())], temperature));
    }
    return group.map((tokens) => tokens.filter((token) => token !== eos));
  };

  const run = (box) => {
    const form = box.querySelector("form");
    const start = box.querySelector(".start");
    const load = start.querySelector("button");
    const { row, G, temperature, shown } = form.elements;
    const submit = form.querySelector("button");
    let facts;
    let policies;
    const say = (text, wrong = false) => {
      const said = box.querySelector(".said");
      said.textContent = text;
      said.classList.toggle("wrong-input", wrong);
    };
    // What is wrong with a row, "" for nothing.
    const complaint = (symbols) => {
      const strange = symbols.find((symbol) => !(symbol in facts.symbols));
      if (strange !== undefined) return `"${strange}" is none of the symbols ${Object.keys(facts.symbols).join(" ")}.`;
      const longest = facts.lengths[1];
      if (symbols.length < 1 || symbols.length > longest) return `Type 1 to ${longest} symbols.`;
      if (symbols.every((symbol) => symbol === ".") && symbols.length > 9) return "At most 9 of them may be dots.";
      return "";
    };
    const showGroup = (section, texts, answer) => {
      const rewards = texts.map((text) => reward(text, answer));
      const better = advantages(rewards);
      section.querySelector("tbody").replaceChildren(
        ...texts.map((text, number) => {
          const line = document.createElement("tr");
          line.className = rewards[number] ? "right" : "wrong";
          const said = document.createElement("code");
          said.textContent = text.trim() || "(nothing)";
          line.insertCell().append(said);
          line.insertCell().textContent = rewards[number];
          line.insertCell().textContent = (better[number] < 0 ? "" : "+") + better[number].toFixed(2);
          return line;
        }),
      );
    };
    const showDigits = (section, probabilities, answer) => {
      const list = section.querySelector(".digits");
      list.hidden = false;
      list.replaceChildren(
        ...Object.entries(facts.digits).map(([digit, token]) => {
          const entry = document.createElement("li");
          const bar = document.createElement("span");
          bar.style.setProperty("--p", probabilities[token]);
          entry.append(bar, digit);
          entry.title = `${digit}: ${probabilities[token].toFixed(3)}`;
          entry.dataset.probability = probabilities[token];
          entry.classList.toggle("right", digit === answer);
          return entry;
        }),
      );
    };
    const sample = async () => {
      const symbols = [...row.value.replace(/\s/g, "")];
      const wrong = complaint(symbols);
      if (wrong) return say(wrong, true);
      const answer = String(symbols.filter((symbol) => symbol === ".").length);
      const prompt = [...facts.prefix, ...symbols.map((symbol) => facts.symbols[symbol]), ...facts.suffix];
      say("Sampling ...");
      submit.disabled = true;
      for (const [name, logitsAfter] of Object.entries(policies)) {
        const section = box.querySelector(`[data-policy="${name}"]`);
        const first = softmax((await logitsAfter([prompt]))[0], 1);
        const token = facts.digits[answer];
        const ended = softmax((await logitsAfter([[...prompt, token]]))[0], 1)[facts.eos];
        section.querySelector("[data-right]").textContent = (first[token] * ended).toFixed(3);
        showDigits(section, first, answer);
        const group = await sampled(logitsAfter, prompt, Number(G.value), Number(temperature.value), facts);
        showGroup(section, group.map((tokens) => tokens.map((one) => facts.texts[one]).join("")), answer);
      }
      box.querySelector("[data-question]").textContent = `Count the dots: ${symbols.join(" ")}`;
      box.querySelector("[data-answer]").textContent = answer;
      submit.disabled = false;
      say("Sampled by the two models in this page. The bars are the probabilities of the digits as the next token.");
    };
    load.addEventListener("click", async () => {
      load.disabled = true;
      say("Loading ...");
      try {
        const beside = (name) => new URL(`try/${name}`, location.href).href;
        const ort = await import(beside("ort.wasm.bundle.min.mjs"));
        ort.env.wasm.numThreads = 1;
        ort.env.wasm.wasmPaths = { wasm: beside("ort-wasm-simd-threaded.wasm") };
        facts = await (await fetch(beside("facts.json"))).json();
        policies = {};
        for (const name of ["before", "after"]) {
          policies[name] = policy(ort, await ort.InferenceSession.create(beside(`${name}.onnx`)));
        }
        start.hidden = true;
        form.hidden = false;
        await sample();
        row.focus();
      } catch (error) {
        load.disabled = false;
        say(`It could not be loaded: ${error.message}`, true);
      }
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sample();
    });
    temperature.addEventListener("input", () => {
      shown.textContent = Number(temperature.value).toFixed(1);
      temperature.setAttribute("aria-valuetext", temperature.value === "0" ? "0, greedy" : temperature.value);
    });
    if (location.protocol === "file:") {
      say("Opened from disk, this page may load nothing, so it shows what was recorded. Served, it runs: "
        + "python -m http.server -d _site, then http://localhost:8000/docs/try.html");
    } else {
      start.hidden = false;
    }
  };
  for (const box of document.querySelectorAll(".try")) {
    if (box.querySelector(".start")) run(box);
  }
}
