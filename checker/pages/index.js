for (const head of document.querySelectorAll("th[data-kind]")) {
  head.addEventListener("click", () => {
    const column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => {
      const value = row.children[column].dataset.value;
      return head.dataset.kind === "number" ? (value === "" ? -Infinity : Number(value)) : value;
    };
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (up ? 1 : -1));
    body.append(...rows);
  });
}
