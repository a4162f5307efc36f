import Fastify from "fastify";
import { agentCollect } from "./agent-collect-fastify.mjs";
import { page, ready } from "./pages.mjs";

const app = Fastify({ forceCloseConnections: true });
agentCollect(app, { visitor: (request) => request.headers["x-session"] });
for (const path of ["/", "/docs", "/*"]) {
  app.get(path, (request, reply) => {
    const { status, type, body } = page(request.url.split("?")[0]);
    reply.code(status).type(type).send(body);
  });
}
process.once("SIGTERM", () => app.close());
await app.listen({ port: 0, host: "127.0.0.1" });
ready(app.server.address().port);
