import { clientIP, createCollector, flushAtExit } from "./agent-collect.mjs";

// agentCollect is a middleware of Express and Connect. visitor(req) may return your own id of the session.
export function agentCollect({ visitor, ...options } = {}) {
  const collector = createCollector({ source: "express", ...options });
  flushAtExit(collector);
  return (req, res, next) => {
    const header = (name) => req.headers[name];
    const seen = {
      method: req.method, host: req.headers.host, target: req.originalUrl ?? req.url, ip: clientIP(header, req.socket.remoteAddress, options),
    };
    res.on("finish", () => collector.touch(header, { ...seen, status: res.statusCode }, visitor && (() => visitor(req))));
    next();
  };
}
