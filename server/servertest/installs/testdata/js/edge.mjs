// An edge platform in small: it serves a handler of requests, and ends when what the handler wanted to be waited for is done.
import { createServer } from "node:http";
import { page, ready } from "./pages.mjs";

const pending = new Set();

export function waitUntil(promise) {
  pending.add(promise);
  promise.finally(() => pending.delete(promise));
}

// origin is the site behind the edge.
export function origin(request) {
  try {
    const { status, type, body } = page(new URL(request.url).pathname);
    return new Response(body, { status, headers: { "Content-Type": type } });
  } catch {
    return new Response("sorry", { status: 500 });
  }
}

export function serveEdge(handle) {
  const server = createServer(async (req, res) => {
    const response = await handle(new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers: req.headers }), req);
    res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  });
  process.once("SIGTERM", async () => {
    server.closeAllConnections();
    server.close();
    await Promise.all(pending);
    process.exit();
  });
  server.listen(0, "127.0.0.1", () => ready(server.address().port));
}
