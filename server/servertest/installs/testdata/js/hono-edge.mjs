// Hono as a Worker has it: with an execution context and bindings.
import { Hono } from "hono";
import { agentCollect } from "./agent-collect-hono.mjs";
import { serveEdge, waitUntil } from "./edge.mjs";
import { page } from "./pages.mjs";

const app = new Hono();
app.use("*", agentCollect({ visitor: (c) => c.req.header("x-session") }));
app.get("*", (c) => {
  const { status, type, body } = page(c.req.path);
  return c.body(body, status, { "Content-Type": type });
});
app.onError((err, c) => c.text("sorry", 500));

const { FIRSTPICK_KEY, FIRSTPICK_URL } = process.env;
delete process.env.FIRSTPICK_KEY;
delete process.env.FIRSTPICK_TRUSTED_PROXIES;
serveEdge((request) => {
  request.headers.set("cf-connecting-ip", "203.0.113.9");
  return app.fetch(request, { FIRSTPICK_KEY, FIRSTPICK_URL }, { waitUntil, passThroughOnException() {} });
});
