// On the pages of both engines: a picture that is drawn smaller than it is opens at its own size, where it can be scrolled;
// a key or a click ends that.
{
  const opened = (image) => {
    const whole = document.createElement("dialog");
    whole.className = "whole";
    const close = document.createElement("button");
    close.type = "button";
    close.className = "close";
    close.textContent = "Close";
    const picture = image.cloneNode();
    for (const name of ["role", "tabindex", "title"]) picture.removeAttribute(name);
    whole.append(close, picture);
    whole.addEventListener("click", () => whole.close());
    whole.addEventListener("close", () => whole.remove());
    document.querySelector("main").append(whole);
    whole.showModal();
  };
  for (const image of document.querySelectorAll("main figure img")) {
    const enlargeable = () => image.naturalWidth > image.clientWidth * 1.1;
    const mark = () => {
      const names = { role: "button", tabindex: "0", title: "Enlarge" };
      for (const [name, value] of Object.entries(names)) {
        if (enlargeable()) image.setAttribute(name, value);
        else image.removeAttribute(name);
      }
    };
    image.addEventListener("load", mark);
    addEventListener("resize", mark);
    mark();
    image.addEventListener("click", () => enlargeable() && opened(image));
    image.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && enlargeable()) opened(image);
    });
  }
}
