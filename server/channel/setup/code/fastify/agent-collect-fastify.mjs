import { clientIP, createCollector } from "./agent-collect.mjs";

// agentCollect adds the hooks to a Fastify instance. visitor(request) may return your own id of the session.
export function agentCollect(app, { visitor, ...options } = {}) {
  const collector = createCollector({ source: "fastify", ...options });
  app.addHook("onResponse", (request, reply, done) => {
    const { headers, socket } = request.raw;
    const header = (name) => headers[name];
    collector.touch(header, {
      method: request.method, host: headers.host, target: request.originalUrl, status: reply.statusCode, ip: clientIP(header, socket.remoteAddress, options),
    }, visitor && (() => visitor(request)));
    done();
  });
  app.addHook("onClose", () => collector.flush());
}
