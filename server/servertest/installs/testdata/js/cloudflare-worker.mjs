import { origin, serveEdge, waitUntil } from "./edge.mjs";
import worker from "./worker-in-front.mjs";

// What the Worker fetches of its own site is the origin's to answer.
const outside = globalThis.fetch;
globalThis.fetch = (what, init) => (what instanceof Request ? Promise.resolve(origin(what)) : outside(what, init));

const { FIRSTPICK_KEY, FIRSTPICK_URL } = process.env;
delete process.env.FIRSTPICK_KEY; // a Worker has bindings only
serveEdge((request) => {
  request.headers.set("cf-connecting-ip", "203.0.113.9");
  return worker.fetch(request, { FIRSTPICK_KEY, FIRSTPICK_URL }, { waitUntil, passThroughOnException() {} });
});
