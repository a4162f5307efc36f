// Small comforts: "/" goes to the search, a button copies the text next to it, and
// each block of code of a document gets one.
"use strict";
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const asked = event.key === "/" && !typing || event.key === "k" && (event.metaKey || event.ctrlKey);
  const find = document.getElementById("find");
  if (!asked || !find) return;
  event.preventDefault();
  find.focus();
});
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
for (const block of document.querySelectorAll(".docs-page .code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}
{
  const root = document.documentElement, button = document.querySelector("[data-theme-switch]");
  const kept = (() => { try { return localStorage.theme; } catch { return undefined; } })();
  if (kept === "dark" || kept === "light") root.dataset.theme = kept;
  if (button) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.theme = root.dataset.theme; } catch { /* not kept */ }
    });
  }
}
// A page that waits for the first event of a workspace.
for (const panel of document.querySelectorAll("[data-first-event]")) {
  const events = new EventSource(panel.dataset.firstEvent);
  events.addEventListener("first", (event) => {
    events.close();
    const { agent, page, at, elsewhere } = JSON.parse(event.data), shown = panel.querySelector("[data-event]"), other = panel.querySelector("[data-elsewhere]");
    if (shown && page) shown.textContent = `${agent || "A visitor"} read ${page} at ${at.slice(11, 16)} UTC.`;
    if (other && elsewhere) {
      other.querySelector("b").textContent = elsewhere;
      other.hidden = false;
    }
    panel.querySelector("[data-waiting]").hidden = true;
    panel.querySelector("[data-arrived]").hidden = false;
  });
}
