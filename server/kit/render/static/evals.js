// Pages of evals work without this: it keeps a run up to date and finds lines in the
// editor.

// money writes US dollars as the server does.
const money = (usd) => {
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "under $0.0001";
  if (usd < 0.1) return "$" + usd.toFixed(4).replace(/0{1,2}$/, "");
  return "$" + usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
};

const live = document.querySelector("[data-events]");
if (live) watch(live);

function watch(root) {
  const field = (name) => root.querySelector(`[data-field="${name}"]`);
  const set = (name, text) => { const e = field(name); if (e && e.textContent !== text) e.textContent = text; };
  const width = (name, part, whole) => {
    const bar = field(name);
    if (bar) bar.setAttribute("width", whole > 0 ? Math.min(100, Math.max(0, 100 * part / whole)) + "%" : "0%");
  };
  const source = new EventSource(root.dataset.events);
  set("link", "live");

  source.addEventListener("open", () => set("link", "live"));
  source.addEventListener("error", () => set("link", source.readyState === EventSource.CLOSED ? "not live: reload the page" : "the connection broke; trying again"));

  source.addEventListener("started", (event) => {
    const body = JSON.parse(event.data);
    set("status", "Running");
    field("status").className = "state live";
    field("wait")?.remove();
    log(body.attempt > 1 ? "A worker resumed the run from its journal." : "A worker started the run.");
  });

  source.addEventListener("progress", (event) => {
    const p = JSON.parse(event.data), budget = Number(root.dataset.budget), most = Math.max(p.spentUsd, p.atMostUsd);
    const done = p.valid + p.excluded, count = (n) => n.toLocaleString("en-US");
    set("valid", count(p.valid));
    set("excluded", count(p.excluded));
    set("inFlight", count(p.inFlight));
    set("left", count(Math.max(0, p.planned - done)));
    set("planned", count(p.planned));
    set("spent", money(p.spentUsd));
    set("atMost", money(most));
    set("done", p.planned > 0 ? Math.floor(100 * done / p.planned) + "%" : "0%");
    width("bar-valid", p.valid, p.planned);
    width("bar-done", done, p.planned);
    width("bar-flight", done + p.inFlight, p.planned);
    width("bar-spent", p.spentUsd, budget);
    width("bar-most", most, budget);
    lanes(p.lanes || []);
  });

  source.addEventListener("ended", () => {
    source.close();
    location.reload(); // the page shows the result now
  });

  function lanes(list) {
    const body = field("lanes");
    if (!body) return;
    body.closest("section").hidden = list.length === 0;
    const words = JSON.parse(root.dataset.words);
    body.replaceChildren(...list.map((lane) => {
      const row = document.createElement("tr"), word = words.phases[lane.phase] || { name: lane.phase, look: "off" };
      const cell = (tag, text, label) => {
        const e = document.createElement(tag);
        e.textContent = text;
        if (label) e.dataset.label = label;
        row.append(e);
        return e;
      };
      const name = cell("th", lane.name);
      name.scope = "row";
      const sub = document.createElement("span");
      sub.className = "sub";
      sub.textContent = (lane.agents || []).join(", ");
      name.append(sub);
      const state = document.createElement("span");
      state.className = "state " + word.look;
      state.textContent = word.name;
      cell("td", "", "State").append(state);
      const [code, ...detail] = (lane.reason || "").split(": ");
      cell("td", [words.reasons[code] ? words.reasons[code].name : code, ...detail].join(": ") || "–", "Why");
      return row;
    }));
  }

  function log(text) {
    const line = document.createElement("li");
    line.textContent = text;
    field("log").append(line);
  }
}

const editor = document.querySelector("textarea[data-editor]");
if (editor) {
  // Tab leaves the field, as everywhere; lines are found by their numbers.
  for (const link of document.querySelectorAll("a[data-line]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const lines = editor.value.split("\n"), n = Math.min(Number(link.dataset.line), lines.length);
      const from = lines.slice(0, n - 1).reduce((sum, line) => sum + line.length + 1, 0);
      const go = () => {
        editor.focus();
        editor.setSelectionRange(from, from + lines[n - 1].length);
        editor.scrollTop = (n - 4) * parseFloat(getComputedStyle(editor).lineHeight);
      };
      // The key that was pressed on the link must be up: in the editor it would replace
      // what is selected.
      if (event.detail === 0) addEventListener("keyup", go, { once: true });
      else go();
    });
  }
  // What was typed and not saved is not lost by a slip.
  const before = editor.defaultValue;
  let sent = false;
  editor.form.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (event) => { if (!sent && editor.value !== before) event.preventDefault(); });
}
