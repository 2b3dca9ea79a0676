// "Check your notebook": files that are dropped on the page are checked by the checker itself, in a worker.
{
  // A worker of its own for as long as it answers. One loaded from an address would not have the page's policy; one made
  // of a blob has it.
  const startWorker = () => {
    const address = JSON.stringify(new URL("check/worker.js", location.href).href);
    const script = `import(${address}).catch((error) => postMessage({ error: error.message }));`;
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), { type: "module" });
    // The next answer of the worker; an error where it has none, or none within so many seconds.
    const next = (seconds) => new Promise((resolve, reject) => {
      const late = new Error(`it took more than ${seconds} seconds`);
      const timer = seconds && setTimeout(() => reject(late), 1000 * seconds);
      worker.onmessage = ({ data }) => {
        clearTimeout(timer);
        if ("error" in data) reject(new Error(data.error));
        else resolve(data.answer);
      };
      worker.onerror = (event) => {
        clearTimeout(timer);
        reject(new Error(event.message || "its script was not loaded"));
      };
    });
    const ready = next();
    return {
      ready,
      end: () => worker.terminate(),
      ask: async (question, seconds) => {
        await ready;
        const answered = next(seconds);
        worker.postMessage(question);
        return answered;
      },
    };
  };

  const made = (name, classes, ...content) => {
    const element = document.createElement(name);
    if (classes) element.className = classes;
    element.append(...content);
    return element;
  };
  const grouped = (number) => number.toLocaleString("en");
  const counted = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
  const VERDICTS = { pass: "passes", fail: "does not pass", unreadable: "cannot be read", unchecked: "was not checked" };
  const LEVELS = { error: "error", warning: "warning", note: "note", question: "asks" };

  // A line of characters: a name, a bar of source and output on a scale, and the numbers.
  const bar = ({ place, source, output }, scale) => {
    const drawn = made("span", "bar", made("i", "of-source"), made("i", "of-output"));
    drawn.setAttribute("aria-hidden", "true");
    [source, output].forEach((size, part) => drawn.children[part].style.setProperty("width", `${(100 * size) / scale}%`));
    return made("li", "", made("span", "place", place), drawn, made("span", "sizes", `${grouped(source)} + ${grouped(output)}`));
  };
  const bars = (sizes, scale) => made("ol", "characters", ...sizes.map((size) => bar(size, scale)));
  const characters = ({ sections, largest, report }) => {
    if (sections.length === 0) return [];
    const total = made("meter");
    const { limit } = report;
    Object.assign(total, { min: 0, max: Math.max(limit, report.characters), low: 0.9 * limit, high: limit, optimum: 0 });
    total.value = report.characters;
    total.setAttribute("aria-label", "characters used");
    const sum = made("p", "", `${grouped(report.characters)} of ${grouped(report.limit)} `, total);
    const key = made("p", "key", made("i", "of-source"), " source ", made("i", "of-output"), " output");
    const scale = (sizes) => Math.max(1, ...sizes.map(({ source, output }) => source + output));
    const fold = made("details", "", made("summary", "", `The ${largest.length} largest cells`), bars(largest, scale(largest)));
    return [made("h3", "", "Characters"), sum, key, bars(sections, scale(sections)), fold];
  };
  const finding = ({ level, code, place, sentence, advice, others, further }) => {
    const line = made("li", level, made("b", "", `${LEVELS[level]} ${code}`), " ");
    if (place) line.append(made("span", "place", place), ": ");
    line.append(sentence, " ", made("span", "advice", advice));
    if (others > 0) {
      const more = `and ${counted(others, "other")} like it`;
      if (further.length === 0) line.append(made("p", "", `${more}.`));
      else line.append(made("details", "", made("summary", "", more), made("ul", "", ...further.map((one) => made("li", "", one)))));
    }
    return line;
  };
  const findings = (found) => (found.length === 0
    ? [made("h3", "", "Findings"), made("p", "", "None.")]
    : [made("h3", "", "Findings"), made("ul", "found", ...found.map(finding))]);
  const result = ({ exercise, passed, said, place }) => {
    const line = made("li", passed ? "right" : "wrong", made("b", "", passed ? "✓" : "✗"), " ", made("code", "", exercise), ` ${said}`);
    if (!passed) line.append(made("small", "", place));
    return line;
  };
  const results = (found) => (found.length === 0
    ? []
    : [made("h3", "", "Checks of the exercises"), made("ul", "results", ...found.map(result))]);
  const shownReport = (name, status, facts, open, ...content) => {
    const summary = made("summary", "", made("h2", "", made("b", status, VERDICTS[status]), " ", name), made("small", "", facts.join(", ")));
    const shown = made("details", "report", summary, ...content);
    shown.open = open;
    return shown;
  };
  const shownAnswer = (told, open) =>
    shownReport(told.report.name, told.report.status, told.facts, open, ...findings(told.findings), ...results(told.results), ...characters(told));
  const shownFailure = (name, why, open) => {
    const advice = "Check it on the command line, where there is more memory and no limit of time: ";
    const command = `python -m checker "${name.replace(/[\\"$`]/g, "\\$&")}"`;
    return shownReport(name, "unchecked", [], open, made("p", "", `It could not be checked here: ${why}. ${advice}`, made("code", "", command)));
  };

  const run = (box) => {
    const form = box.querySelector("form");
    const list = box.querySelector(".reports");
    const said = box.querySelector(".said");
    let worker;
    let busy = Promise.resolve();
    const started = () => (worker ??= startWorker());
    const ended = () => {
      worker?.end();
      worker = undefined;
    };
    const listed = async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      return started().ask({ name: file.name, bytes }, Number(box.dataset.seconds));
    };
    // A report on each notebook of a file, as soon as it is there. Whatever one of them does to the interpreter, the next
    // one has a new one.
    async function* reportsOn(file) {
      let names;
      try {
        const told = await listed(file);
        names = told.names;
        for (const { name, reason } of told.skipped) yield { skipped: `${name}: ${reason}` };
      } catch (error) {
        ended();
        yield { name: file.name, why: error.message };
        return;
      }
      for (const [number, name] of names.entries()) {
        try {
          if (!worker) await listed(file);
          yield { name, told: await started().ask({ number }, Number(box.dataset.seconds)) };
        } catch (error) {
          ended();
          yield { name, why: error.message };
        }
      }
    }
    const check = async (files) => {
      list.replaceChildren();
      const skipped = made("ul", "skipped");
      const statuses = [];
      said.textContent = worker ? "Checking ..." : "Loading Python and the checker ...";
      let versions;
      try {
        versions = await started().ready;
      } catch (error) {
        ended();
        said.textContent = `The checker could not be loaded: ${error.message}. Load the page again, or check on the command line, as below.`;
        return;
      }
      said.textContent = "Checking ...";
      for (const file of files) {
        for await (const { name, told, why, skipped: left } of reportsOn(file)) {
          if (left) skipped.append(made("li", "", left));
          else {
            statuses.push(told?.report.status ?? "unchecked");
            list.append(told ? shownAnswer(told, false) : shownFailure(name, why, false));
            said.textContent = `Checked ${counted(statuses.length, "notebook")} ...`;
          }
        }
      }
      const reports = list.querySelectorAll(".report");
      if (reports.length === 1) reports[0].open = true;
      if (skipped.children.length > 0) list.append(made("h2", "", "Not looked at"), skipped);
      const passed = statuses.filter((status) => status === "pass").length;
      const sums = ["No notebook was found", `The notebook ${VERDICTS[statuses[0]]}`];
      const sum = sums[statuses.length] ?? `${passed} of ${counted(statuses.length, "notebook")} ${passed === 1 ? "passes" : "pass"}`;
      said.textContent = `${sum}. Checked in this page by ${versions}; nothing left this computer.`;
    };
    // One after the other, whatever is dropped meanwhile.
    const asked = (files) => {
      if (files.length > 0) busy = busy.then(() => check([...files]));
    };
    if (location.protocol === "file:") {
      said.textContent = "Opened from disk, this page may load nothing. Served, it checks: python -m http.server -d _site, "
        + "then http://localhost:8000/docs/check.html";
      return;
    }
    form.hidden = false;
    const { chosen } = form.elements;
    chosen.addEventListener("change", () => {
      asked([...chosen.files]);
      chosen.value = ""; // so that the same file, saved again, is checked again
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["dragover", "dragleave", "drop"]) {
      document.addEventListener(name, (event) => {
        event.preventDefault(); // the browser would leave the page for the file
        form.classList.toggle("over", name === "dragover");
        if (name === "drop") asked([...event.dataTransfer.files]);
      });
    }
  };
  for (const box of document.querySelectorAll(".check")) {
    if (box.querySelector("form")) run(box);
  }
}
