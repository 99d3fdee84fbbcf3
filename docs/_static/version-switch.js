/* Let a reader go to this page in another version.

The site is one folder for each version, and `versions.json` beside them: a list of
{"version": "0.2.0", "folder": "0.2.0", "latest": true}. Paths are relative, so that any static host
will do, in a folder of it too. Without the list (a single build, or a page opened as a file) the
version is a word and not a choice. */
"use strict";

(() => {
  const here = document.documentElement.dataset.content_root || "./";

  async function versions() {
    try {
      const answer = await fetch(`${here}../versions.json`, { cache: "no-cache" });
      return answer.ok ? await answer.json() : [];
    } catch {
      return [];
    }
  }

  async function go(folder, page) {
    const root = `${here}../${folder}/`;
    let target = root + page;
    try {
      // A page that the other version does not have: its first page will do.
      if (!(await fetch(target, { method: "HEAD" })).ok) target = root + "index.html";
    } catch {
      target = root + "index.html";
    }
    window.location.href = target;
  }

  function offer(box, known) {
    const { version, page } = box.dataset;
    const choice = box.querySelector("select");
    for (const one of known) {
      const shown = one.latest ? `${one.version} (latest)` : one.version;
      const chosen = one.version === version;
      choice.add(new Option(shown, one.folder, chosen, chosen));
    }
    choice.addEventListener("change", () => go(choice.value, page));
    box.querySelector(".version-switch__label").hidden = true;
    box.querySelector(".version-switch__choice").hidden = false;
  }

  document.addEventListener("DOMContentLoaded", async () => {
    const known = await versions();
    if (known.length < 2) return;
    document.querySelectorAll(".version-switch").forEach((box) => offer(box, known));
  });
})();
