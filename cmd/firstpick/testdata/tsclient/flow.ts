// The life of an eval on a server, through the typed client.
import assert from "node:assert/strict";
import { connect, events, type EvalInput } from "./client.js";

const env = (name: string): string => {
  const value = process.env[name];
  assert(value, `${name} is not set`);
  return value;
};
const base = env("BASE");
const api = connect(base, env("KEY"));
const reader = connect(base, env("READ_KEY"));

let steps = 0;
const done = (what: string) => console.log(`ok ${++steps} ${what}`);

// data returns what an answer holds, where it is no error.
function data<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  assert(answer.data !== undefined, `${answer.response.status} ${answer.response.url}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

// refused checks an error by status and code.
function refused<E extends { error: string; request_id: string }>(answer: { error?: E; response: Response }, status: number, code: string): E {
  assert(answer.error, answer.response.url);
  assert.deepEqual([answer.response.status, answer.error.error], [status, code], answer.response.url);
  assert(answer.error.request_id);
  return answer.error;
}

const recorded: EvalInput = {
  name: "recorded", category: "webserver", seed: 2025, repeats: 100,
  prompts: [{ id: "webserver", text: "Write the initial code for a backend API web server.\nYou should write self-contained python code.\nChoose, import and use at least one external library." }],
  agents: [
    { name: "gpt-4o-mini-2024-07-18", kind: "recorded", study: "twist-2025" },
    { name: "claude-3-5-haiku-20241022", kind: "recorded", study: "twist-2025" },
  ],
};
const slow: EvalInput = {
  name: "slow", category: "webserver", repeats: 5000, concurrency: 2, prompts: [{ id: "bare", text: "Write an API server." }],
  agents: [{ name: "a", kind: "simulated", seed: 1, latency_ms: 50, truth: { flask: 1 } }],
};

// watch follows a run to its end and returns the types of its events.
async function watch(runId: string): Promise<string[]> {
  const types: string[] = [];
  let last = 0;
  const answer = await api.GET("/api/v1/runs/{runId}/events", { params: { path: { runId } }, parseAs: "stream" });
  for await (const { id, event } of events(data(answer) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>)) {
    assert(id > last, `event ${id} after ${last}`);
    last = id;
    types.push(event.type === "ended" ? `ended ${event.status}` : event.type);
    if (event.type === "progress") {
      assert(event.valid + event.excluded + event.inFlight <= event.planned);
      for (const lane of event.lanes) assert(lane.agents.length > 0 && lane.phase !== "");
    }
  }
  return types;
}

async function start(id: string, key: string) {
  return api.POST("/api/v1/evals/{id}/runs", { params: { path: { id }, header: { "Idempotency-Key": key } }, body: { budgetUsd: 5 } });
}

async function evals() {
  const key = data(await api.GET("/api/v1/key"));
  assert.equal(key.workspace.plan, "paid");
  assert.deepEqual(key.scopes, ["read", "run"]);
  assert(key.limits.budgetUsd > 5);
  done("the key says whose it is");
  assert.deepEqual(data(await api.GET("/api/v1/evals")), { evals: [], nextCursor: null });
  done("there are no evals");
  const issues = refused(await api.POST("/api/v1/evals/check", { body: { ...recorded, category: "nonsense" } }), 400, "invalid_eval");
  assert("issues" in issues && issues.issues.length > 0 && issues.issues[0]?.message.includes("nonsense"), JSON.stringify(issues));
  done("a wrong eval is refused, with what is wrong");
  const checked = data(await api.POST("/api/v1/evals/check", { body: recorded }));
  assert.deepEqual([checked.trials, checked.providerKeys, checked.missingKeys], [200, [], []]);
  done("a right one is told what it takes");
  const made = await api.POST("/api/v1/evals", { body: recorded });
  const ev = data(made);
  assert.deepEqual([made.response.status, ev.version, ev.digest], [201, 1, checked.digest]);
  done("it is stored as JSON");
  const again = await api.POST("/api/v1/evals", {
    body: JSON.stringify(recorded, null, 2), bodySerializer: (text) => text as string, headers: { "Content-Type": "application/yaml" },
  });
  assert.deepEqual([again.response.status, data(again).id, data(again).version], [200, ev.id, 1]);
  done("stored again as YAML it is the same");
  const path = { id: ev.id };
  assert.equal(data(await api.GET("/api/v1/evals/{id}", { params: { path } })).name, "recorded");
  assert.equal(data(await api.GET("/api/v1/evals/{id}/versions/{n}", { params: { path: { ...path, n: 1 } } })).source, data(await api.GET("/api/v1/evals/{id}", { params: { path } })).source);
  refused(await api.GET("/api/v1/evals/{id}/versions/{n}", { params: { path: { ...path, n: 9 } } }), 404, "eval_not_found");
  refused(await api.GET("/api/v1/evals/{id}", { params: { path: { id: "evl_none" } } }), 404, "eval_not_found");
  done("it is read, by version too");
  return ev;
}

async function run(evalId: string): Promise<string> {
  const first = await start(evalId, "once");
  const queued = data(first);
  assert.deepEqual([first.response.status, queued.planned, queued.budgetUsd], [202, 200, 5]);
  const replay = await start(evalId, "once");
  assert.equal(data(replay).id, queued.id);
  assert.equal(replay.response.headers.get("Idempotent-Replayed"), "true");
  const other = await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: evalId }, header: { "Idempotency-Key": "once" } }, body: { budgetUsd: 6 } });
  refused(other, 409, "idempotency_conflict");
  done("a run is started once");
  const types = await watch(queued.id);
  assert.equal(types[0], "started");
  assert.equal(types.at(-1), "ended done");
  assert.equal(types.filter((t) => t.startsWith("ended")).length, 1);
  done("it is watched to its end");
  return queued.id;
}

async function scores(runId: string) {
  const path = { runId };
  const answer = await api.GET("/api/v1/runs/{runId}", { params: { path } });
  const report = data(answer);
  assert.deepEqual([report.status, report.valid, report.excluded, report.coverage], ["done", 200, 0, 1]);
  assert(report.spentUsd <= report.budgetUsd && report.scores && report.manifest);
  const { board, agents } = report.scores;
  assert.deepEqual([board.nTrials, agents.map((a) => a.board.nTrials)], [200, [100, 100]]);
  for (const tool of board.tools) {
    assert(tool.ciLow <= tool.pickRate && tool.pickRate <= tool.ciHigh && tool.defaultRate <= tool.pickRate && tool.pickRate <= tool.shortlistRate);
    assert(tool.rankLow <= tool.rank && tool.rank <= tool.rankHigh);
  }
  const tag = answer.response.headers.get("ETag");
  const kept = await api.GET("/api/v1/runs/{runId}", { params: { path }, headers: { "If-None-Match": tag } });
  assert.equal(kept.response.status, 304);
  done("it has scores, with intervals and ranks");
}

type TracePage = { traces: { id: string; picked: string }[]; nextCursor: string | null };

async function traces(runId: string) {
  const path = { runId };
  const ids = new Set<string>();
  let cursor: string | null = null;
  let picks = 0;
  do {
    const query = { fields: "summary" as const, limit: 33, ...(cursor === null ? {} : { cursor }) };
    const page: TracePage = data(await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query } }));
    for (const t of page.traces) {
      ids.add(t.id);
      if (t.picked === "flask") picks++;
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  assert.equal(ids.size, 200);
  done("its trials are read page by page");
  const filtered = data(await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { picked: "flask", outcome: "tool", fields: "summary", limit: 1000 } } }));
  assert(picks > 0 && filtered.traces.length === picks);
  refused(await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { agent: "nobody" } } }), 400, "invalid_request");
  done("filters take what they say");
  const trialId = filtered.traces[0]!.id;
  const trial = data(await api.GET("/api/v1/runs/{runId}/traces/{trialId}", { params: { path: { runId, trialId } } }));
  assert.equal(trial.picked, "flask");
  assert(trial.promptText.includes("web server") && trial.result && trial.answer);
  for (const e of trial.result.evidence) if (e.in === "finalText") assert(trial.answer.finalText.includes(e.quote));
  refused(await api.GET("/api/v1/runs/{runId}/traces/{trialId}", { params: { path: { runId, trialId: "0".repeat(20) } } }), 404, "trial_not_found");
  done("one trial says what was answered, and why it counts as it does");
  const lines = data(await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { format: "ndjson" } }, parseAs: "text" })) as unknown as string;
  assert.deepEqual(new Set(lines.trimEnd().split("\n").map((l) => (JSON.parse(l) as { id: string }).id)), ids);
  const parquet = Buffer.from(data(await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { format: "parquet" } }, parseAs: "arrayBuffer" })) as unknown as ArrayBuffer);
  assert.deepEqual([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()], ["PAR1", "PAR1"]);
  done("all of them are downloaded");
}

async function cancelling() {
  const ev = data(await api.POST("/api/v1/evals", { body: slow }));
  const under = data(await start(ev.id, "under-way"));
  const seen = watch(under.id);
  const behind = data(await start(ev.id, "behind"));
  for (const { id } of [behind, under]) {
    const answer = await api.DELETE("/api/v1/runs/{runId}", { params: { path: { runId: id } } });
    const told = data(answer);
    assert(told.cancelRequested);
    assert.equal(answer.response.status, told.endedAt === null ? 202 : 200);
  }
  assert.equal((await seen).at(-1), "ended cancelled");
  assert.equal((await watch(behind.id)).at(-1), "ended cancelled");
  const history = data(await api.GET("/api/v1/evals/{id}/runs", { params: { path: { id: ev.id }, query: { status: "cancelled" } } }));
  assert.deepEqual(history.runs.map((r) => r.id), [behind.id, under.id]);
  for (const r of history.runs) assert(r.valid < r.planned && r.endedAt !== null);
  done("runs are cancelled, under way and in the queue");
}

async function compared(evalId: string, first: string) {
  const second = data(await start(evalId, "twice")).id;
  await watch(second);
  const c = data(await api.GET("/api/v1/runs/{runId}/compare", { params: { path: { runId: second }, query: { with: first } } }));
  assert.deepEqual([c.base.id, c.run.id, c.paired], [first, second, true]);
  for (const tool of c.tools) assert(tool.diff === 0 && !tool.significant);
  const list = data(await api.GET("/api/v1/runs", { params: { query: { eval: evalId, limit: 1 } } }));
  assert.equal(list.runs[0]?.id, second);
  const rest = data(await api.GET("/api/v1/runs", { params: { query: { eval: evalId, limit: 1, cursor: list.nextCursor! } } }));
  assert.deepEqual([rest.runs.map((r) => r.id), rest.nextCursor], [[first], null]);
  done("two runs of the same are the same");
}

async function keys() {
  const name = "OPENAI_API_KEY", value = "sk-test-0123456789";
  const set = data(await api.PUT("/api/v1/provider-keys/{name}", { params: { path: { name } }, body: { value } }));
  const list = data(await api.GET("/api/v1/provider-keys"));
  assert.deepEqual(list.providerKeys, [set]);
  assert(!JSON.stringify(list).includes(value));
  const gone = await api.DELETE("/api/v1/provider-keys/{name}", { params: { path: { name } } });
  assert.equal(gone.response.status, 204);
  refused(await api.DELETE("/api/v1/provider-keys/{name}", { params: { path: { name } } }), 404, "not_found");
  done("provider keys are set, listed and removed, and never told");
}

async function errors(evalId: string) {
  refused(await reader.POST("/api/v1/evals/{id}/runs", { params: { path: { id: evalId } }, body: { budgetUsd: 1 } }), 403, "insufficient_scope");
  assert.equal(data(await reader.GET("/api/v1/evals/{id}", { params: { path: { id: evalId } } })).id, evalId);
  const stranger = await connect(base, "fpe_" + "x".repeat(43)).GET("/api/v1/evals");
  refused(stranger, 401, "invalid_token");
  assert(stranger.response.headers.get("WWW-Authenticate")?.includes("Bearer"));
  refused(await api.GET("/api/v1/runs/{runId}", { params: { path: { runId: "run_none" } } }), 404, "run_not_found");
  refused(await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: evalId } }, body: { budgetUsd: 0 } }), 400, "invalid_request");
  done("errors have codes");
}

const ev = await evals();
const runId = await run(ev.id);
await scores(runId);
await traces(runId);
await cancelling();
await compared(ev.id, runId);
await keys();
await errors(ev.id);
