import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { agentCollect } from "./agent-collect-hono.mjs";
import { page, ready } from "./pages.mjs";

const app = new Hono();
app.use("*", agentCollect({ visitor: (c) => c.req.header("x-session") }));
app.get("*", (c) => {
  const { status, type, body } = page(c.req.path);
  return c.body(body, status, { "Content-Type": type });
});
app.onError((err, c) => c.text("sorry", 500));
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => ready(port));
