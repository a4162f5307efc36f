import { createCollector } from "./agent-collect.mjs";

// withAgentCollect wraps the handlers of a Worker. Of what a Worker throws nothing is reported, and nothing is hidden.
export function withAgentCollect(worker) {
  return {
    ...worker,
    async fetch(request, env, ctx) {
      const response = await worker.fetch(request, env, ctx);
      const collector = createCollector({ key: env.FIRSTPICK_KEY, url: env.FIRSTPICK_URL, source: "cloudflare-worker" });
      const header = (name) => request.headers.get(name), { host, pathname, search } = new URL(request.url);
      collector.touch(header, { method: request.method, host, target: pathname + search, status: response.status, ip: header("cf-connecting-ip") ?? undefined });
      ctx.waitUntil(collector.flush());
      return response;
    },
  };
}
