// What the description does not have. Each line that ends in "// wrong" must not compile, and no other.
import { connect, type EvalInput } from "./client.js";

const api = connect("https://firstpick.example", "fpe_");
const path = { runId: "run_1" };

await api.GET("/api/v1/eval"); // wrong
await api.PATCH("/api/v1/evals"); // wrong
await api.GET("/api/v1/runs/{runId}"); // wrong
await api.GET("/api/v1/runs/{runId}", { params: { path: { run: "run_1" } } }); // wrong
await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { outcome: "flask" } } }); // wrong
await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { tool: "flask" } } }); // wrong
await api.GET("/api/v1/runs/{runId}/traces", { params: { path, query: { limit: "10" } } }); // wrong
await api.GET("/api/v1/runs/{runId}/compare", { params: { path } }); // wrong
await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: "evl_1" } } }); // wrong
await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: "evl_1" } }, body: { budget: 5 } }); // wrong
await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: "evl_1" } }, body: { budgetUsd: "5" } }); // wrong
await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: "evl_1" } }, body: { budgetUsd: 5, retries: 2 } }); // wrong
await api.POST("/api/v1/evals/{id}/runs", { params: { path: { id: "evl_1" } }, body: { budgetUsd: 5, version: 2 } });
await api.PUT("/api/v1/provider-keys/{name}", { params: { path: { name: "X_KEY" } }, body: { key: "k" } }); // wrong

const ev: EvalInput = { name: "x", category: "webserver", prompts: [{ id: "p", text: "t" }], agents: [{ name: "a", kind: "recorded", study: "s" }] };
await api.POST("/api/v1/evals", { body: ev });
await api.POST("/api/v1/evals", { body: { ...ev, prompts: [{ id: "p", txt: "t" }] } }); // wrong
await api.POST("/api/v1/evals", { body: { ...ev, agents: [{ name: "a", kind: "humn" }] } }); // wrong
await api.POST("/api/v1/evals", { body: { ...ev, agents: [{ kind: "recorded", study: "s" }] } }); // wrong
await api.POST("/api/v1/evals", { body: { name: "x", category: "webserver", prompts: [] } }); // wrong
await api.POST("/api/v1/evals", { body: { ...ev, repeat: 3 } }); // wrong
await api.GET("/api/v1/evals", { query: { limit: 3 } }); // wrong

const report = await api.GET("/api/v1/runs/{runId}", { params: { path } });
report.data.status; // wrong
report.data?.score; // wrong
if (report.data?.status === "finished") throw report; // wrong
report.data?.scores.board; // wrong
report.data?.scores?.board.tools[0]?.pickRate;
report.error?.error_description;
report.error?.detail; // wrong
