import { clientIP, createCollector, flushAtExit } from "./agent-collect.mjs";

// agentCollect is a middleware of Hono, on Node and on edge platforms. visitor(c) may return your own id of the session.
export function agentCollect({ visitor, ...options } = {}) {
  let shared; // on Node; an edge platform wants nothing kept between requests
  return async (c, next) => {
    await next();
    const edge = edgeContext(c);
    const collector = edge ? createCollector({ source: "hono", key: c.env?.FIRSTPICK_KEY, url: c.env?.FIRSTPICK_URL, ...options }) : shared ??= node(options);
    const header = (name) => c.req.header(name), { pathname, search, host } = new URL(c.req.url);
    const ip = edge ? clientIP(header, undefined, { ipHeader: "cf-connecting-ip", ...options }) : clientIP(header, c.env?.incoming?.socket.remoteAddress, options);
    collector.touch(header, { method: c.req.method, host, target: pathname + search, status: c.res.status, ip }, visitor && (() => visitor(c)));
    edge?.waitUntil(collector.flush());
  };
}

function node(options) {
  const collector = createCollector({ source: "hono", ...options });
  flushAtExit(collector);
  return collector;
}

function edgeContext(c) {
  try { return c.executionCtx; } catch { return undefined; } // Hono throws where there is none
}
