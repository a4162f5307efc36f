import { clientIP, createCollector } from "./agent-collect.mjs";

const collector = createCollector({ source: "nextjs" });
const options = process.env.VERCEL ? { ipHeader: "x-real-ip" } : {}; // Vercel overwrites that header

// collect reports a request after it was answered. Its status is not known here: it is left out.
export function collect(request, event, visitor) {
  const header = (name) => request.headers.get(name);
  const { pathname, search } = request.nextUrl;
  collector.touch(header, { method: request.method, host: header("host"), target: pathname + search, ip: clientIP(header, undefined, options) }, visitor);
  event.waitUntil(collector.flush());
}
