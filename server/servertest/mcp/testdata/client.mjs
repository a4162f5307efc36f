// Talks to the server with a client of the protocol's TypeScript SDK, and prints a line
// for each thing that is as it should be. WAY says which client: v1, v2 (as it comes) or
// newer (v2, told to find out what the server speaks).
import assert from "node:assert/strict";
import { z } from "zod";

const { URL: address, WAY: way } = process.env;
const info = { name: "cursor-vscode", version: "1.0.0" };
// The older protocol says only at the beginning who calls; later there is this header.
const options = way === "newer" ? {} : { requestInit: { headers: { "User-Agent": "cursor/1.0.0" } } };

async function connect() {
  if (way === "v1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const client = new Client(info);
    await client.connect(new StreamableHTTPClientTransport(new globalThis.URL(address), options));
    return client;
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client(info, way === "newer" ? { versionNegotiation: { mode: "auto" } } : {});
  await client.connect(new StreamableHTTPClientTransport(new globalThis.URL(address), options));
  return client;
}

let steps = 0;
async function step(name, f) {
  await f();
  console.log(`ok ${++steps} ${name}`);
}

const client = await connect();
const fails = (promise, code) => assert.rejects(promise, (e) => e.code === code || assert.fail(`${e.name} ${e.code}: ${e.message}`));
const call = (name, args) => client.callTool({ name, arguments: args });
function good(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  assert.equal(result.content.length, 1);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}
function bad(result, code) {
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent, undefined);
  const failure = JSON.parse(result.content[0].text);
  assert.equal(failure.error, code, result.content[0].text);
  assert.ok(failure.error_description);
  return failure;
}

await step("the server says who it is", () => {
  assert.equal(client.getServerVersion().version, "1.2.3");
  assert.match(client.getInstructions(), /getLeaderboard/);
  assert.deepEqual(Object.keys(client.getServerCapabilities()).sort(), ["completions", "prompts", "resources", "tools"]);
  if (client.getNegotiatedProtocolVersion) {
    assert.equal(client.getNegotiatedProtocolVersion(), way === "newer" ? "2026-07-28" : "2025-11-25");
  }
});
await step("tools are listed, in the same order each time", async () => {
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((t) => t.name), ["compareTools", "getChanges", "getLeaderboard", "getMyAgents", "getPickRate", "lookupTool", "lookupTools"]);
  for (const t of tools) {
    assert.ok(t.title && t.description && t.outputSchema && t.annotations.readOnlyHint, t.name);
  }
  assert.deepEqual(await client.listTools(), await client.listTools());
});
await step("getLeaderboard", async () => {
  const board = good(await call("getLeaderboard", { category: "payments", limit: 3 }));
  assert.equal(board.category, "payments");
  assert.equal(board.tools.length, 3);
});
await step("getPickRate", async () => {
  const rate = good(await call("getPickRate", { tool: "flask" }));
  assert.ok(rate.pickRate >= rate.ciLow && rate.pickRate <= rate.ciHigh && rate.nTrials > 0 && rate.asOf);
  assert.match(rate.url, /via=mcp-cursor/);
});
await step("lookupTool", async () => {
  const found = good(await call("lookupTool", { query: "stripe.com" }));
  assert.match(JSON.stringify(found), /"stripe"/);
});
await step("getMyAgents without a token teaches, and asks for no sign-in", async () => {
  const failure = bad(await call("getMyAgents", {}), "login_required");
  assert.match(failure.auth_guide, /auth\.md$/);
});
await step("an unknown tool is a protocol error", () => fails(call("getpickrate", {}), -32602));
await step("a bad argument can be read and mended", async () => {
  bad(await call("getPickRate", { tool: 7 }), "invalid_request");
  bad(await call("getPickRate", { tool: "flask", more: 1 }), "invalid_request");
  bad(await call("getLeaderboard", { category: "payments", limit: -1 }), "invalid_request");
});
await step("what is not found comes with suggestions", async () => {
  const failure = bad(await call("getPickRate", { tool: "flaks" }), "tool_not_found");
  assert.ok(failure.suggestions.length > 0);
  bad(await call("getLeaderboard", { category: "nope" }), "category_not_found");
});
await step("every resource can be read", async () => {
  const { resources } = await client.listResources();
  assert.ok(resources.length > 5);
  for (const r of resources) {
    const { contents } = await client.readResource({ uri: r.uri });
    assert.equal(contents.length, 1);
    assert.equal(contents[0].mimeType, "text/markdown");
    assert.match(contents[0].text, /^(---\n[^]*?---\n)?\s*# /, r.uri);
  }
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
});
await step("a resource that is not there", () => fails(client.readResource({ uri: "https://firstpick.example/nowhere" }), -32602));
await step("the prompt", async () => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((p) => p.name), ["compare"]);
  const { messages } = await client.getPrompt({ name: "compare", arguments: { category: "payments", tool: "stripe" } });
  assert.match(messages[0].content.text, /`payments`[^]*`stripe`/);
});
await step("a prompt without what it needs, and one that is not there", async () => {
  await fails(client.getPrompt({ name: "compare" }), -32602);
  await fails(client.getPrompt({ name: "nothing" }), -32602);
});
await step("completion", async () => {
  const complete = (name, value, context) => client.complete({ ref: { type: "ref/prompt", name: "compare" }, argument: { name, value }, ...context });
  assert.deepEqual((await complete("category", "pay")).completion.values, ["payments"]);
  assert.ok((await complete("tool", "", { context: { arguments: { category: "webserver" } } })).completion.values.includes("flask"));
  assert.deepEqual((await complete("tool", "strip", { context: { arguments: { category: "webserver" } } })).completion.values, []);
});
// The newer protocol wants 404 for it, of which this client reads no further than the status.
await step("a method that is not there", () => fails(client.request({ method: "no/such" }, z.any()), way === "newer" ? "CLIENT_HTTP_NOT_IMPLEMENTED" : -32601));
await client.close();
await step("closing leaves nothing open", () => {});
