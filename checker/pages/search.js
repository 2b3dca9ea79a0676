// Finds pages by their titles and sections by their headings, over the whole course.
const found = document.querySelector(".found");
const pages = document.querySelector(".pages");
document.querySelector(".search input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  pages.hidden = words.length > 0;
  for (const entry of found.children) {
    const text = entry.textContent.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
});
