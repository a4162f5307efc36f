// Small comforts: "/" goes to the search, which suggests pages, a button copies the text
// next to it, and each block of code of a document gets one.
"use strict";
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  const asked = event.key === "/" && !typing || event.key === "k" && (event.metaKey || event.ctrlKey);
  const find = asked && [...document.querySelectorAll("input[type=search]")].find((input) => input.checkVisibility());
  if (!find) return;
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
// Suggestions below a search: a combobox with a list (ARIA 1.2).
for (const input of document.querySelectorAll('form[action="/search"] input[name=q]')) {
  const make = (name, attributes) => Object.assign(document.createElement(name), attributes);
  const list = make("ul", { id: `${input.id}-pages`, className: "pages", hidden: true }), status = make("span", { className: "hidden" });
  let at = -1, timer, request, asked = "";
  const attributes = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false" };
  for (const name in attributes) input.setAttribute(name, attributes[name]);
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  status.setAttribute("role", "status");
  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", open);
    if (!open) mark(-1);
  };
  const mark = (n) => {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = n;
    const option = list.children[at];
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
  };
  const go = (option) => location.assign(option.dataset.to);
  const fill = (pages) => {
    list.replaceChildren(...pages.map((page, i) => {
      const to = new URL(page.url), option = make("li", { id: `${list.id}-${i}` });
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.to = to.pathname + to.search + to.hash;
      option.append(make("b", { textContent: page.name }), " ", make("small", { textContent: page.kind + (page.note ? ` · ${page.note}` : "") }));
      option.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays
      option.addEventListener("click", () => go(option));
      return option;
    }));
    at = -1;
    show(pages.length > 0 && document.activeElement === input);
    status.textContent = pages.length ? `${pages.length} suggestion${pages.length > 1 ? "s" : ""}` : "No suggestions";
  };
  input.addEventListener("input", () => {
    const text = input.value.trim();
    clearTimeout(timer);
    request?.abort();
    asked = text;
    if (!text) return fill([]);
    timer = setTimeout(async () => {
      request = new AbortController();
      try {
        const response = await fetch(`/search?q=${encodeURIComponent(text)}`, { headers: { Accept: "application/json" }, signal: request.signal });
        if (response.ok && asked === text) fill((await response.json()).pages || []);
      } catch { /* aborted or offline: the form works without suggestions */ }
    }, 120);
  });
  input.addEventListener("keydown", (event) => {
    const n = list.children.length, step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing) return;
    if (step && n) {
      if (list.hidden) show(true);
      mark(at < 0 ? (step > 0 ? 0 : n - 1) : (at + step + n) % n);
    } else if (event.key === "Escape" && !list.hidden) show(false);
    else return;
    event.preventDefault();
  });
  input.form.addEventListener("submit", (event) => {
    if (at < 0) return;
    event.preventDefault();
    go(list.children[at]);
  });
  input.addEventListener("blur", () => show(false));
  input.addEventListener("focus", () => {
    if (!list.isConnected) input.form.append(list, status);
    input.setAttribute("aria-controls", list.id);
    show(list.children.length > 0);
  });
}
