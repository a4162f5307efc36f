import { withAgentCollect } from "./agent-collect-worker.mjs";

// A Worker in front of a site that has no code of its own: it passes requests on, and if it fails, Cloudflare does without it.
export default withAgentCollect({
  fetch(request, env, ctx) {
    ctx.passThroughOnException();
    return fetch(request);
  },
});
