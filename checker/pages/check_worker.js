// The checker in a worker of the page "Check your notebook": Python in WebAssembly, and the course's own files.
// It is asked by messages: { name, bytes } for what a file holds, { number } for the report on one of these.
import { loadPyodide } from "./pyodide.mjs";

const FOLDER = "/checker";
const start = async () => {
  const python = await loadPyodide();
  const packed = await fetch(new URL("checker.zip", import.meta.url));
  if (!packed.ok) throw new Error(`checker.zip: ${packed.status}`);
  python.unpackArchive(new Uint8Array(await packed.arrayBuffer()), "zip", { extractDir: FOLDER });
  python.runPython(`import sys; sys.path.insert(0, "${FOLDER}")`);
  return { python, checker: python.pyimport("checker.checking.in_browser") };
};
const started = start();
let dropped;

const answer = async ({ name, bytes, number }) => {
  const { python, checker } = await started;
  if (number !== undefined) return JSON.parse(dropped.checked(number));
  dropped?.destroy();
  dropped = checker.Dropped(name, python.toPy(bytes));
  return JSON.parse(dropped.listed());
};
addEventListener("message", async ({ data }) => {
  try {
    postMessage({ answer: await answer(data) });
  } catch (error) {
    postMessage({ error: error.message });
  }
});
started.then(
  ({ checker }) => postMessage({ answer: checker.VERSIONS }),
  (error) => postMessage({ error: error.message }),
);
