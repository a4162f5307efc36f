import { origin, serveEdge, waitUntil } from "./edge.mjs";

globalThis.Netlify = { env: { get: (name) => process.env[name] } };
const { default: handle } = await import("./netlify/edge-functions/agent-collect-edge.js");
serveEdge((request) => handle(request, { next: async () => origin(request), ip: "203.0.113.9", waitUntil }));
