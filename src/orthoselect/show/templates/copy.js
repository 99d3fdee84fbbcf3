// Code that can be copied has a button for it; tables that are wider than the screen say so.

for (const code of document.querySelectorAll("pre[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy: ${code.getAttribute("aria-label")}`);
  code.previousElementSibling.append(button);
  const say = (words) => {
    button.textContent = words;
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  };
  const byHand = () => {
    // Where pages may not write to the clipboard: the code is marked, and copied as if by keys.
    getSelection().selectAllChildren(code);
    say(document.execCommand("copy") ? "Copied" : "Press Ctrl+C");
  };
  button.addEventListener("click", () => {
    if (!navigator.clipboard) byHand();
    else navigator.clipboard.writeText(code.textContent).then(() => say("Copied"), byHand);
  });
}

for (const hint of document.querySelectorAll(".slide")) {
  const region = hint.previousElementSibling;
  const look = () => { hint.hidden = region.scrollWidth <= region.clientWidth + 1; };
  new ResizeObserver(look).observe(region);
  hint.closest("details")?.addEventListener("toggle", look);
  look();
}
