// Tells firstpick which AI agents read this site; guide: https://firstpick.example/setup.md
// Views by people are not sent, unless an agent's link or an assistant brought them. Does nothing without a key.
const ASSET = /\.(css|js|mjs|cjs|map|wasm|webmanifest|png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|heic|woff2?|ttf|otf|eot|mp3|mp4|m4a|m4v|webm|og[gav]|wav|mov|avi|m3u8|ts|zip|gz|tgz|bz2|xz|br|7z|rar|tar|dmg|exe|msi|deb|rpm|pkg|iso)$/i;
const BUILD = /^\/(_next|_vercel|cdn-cgi|_nuxt|_app)\//;
const KEEP = /^\/\.well-known\/|\/openapi\.[^\/]*$/i;
const HEALTH = /^(kube-probe|elb-healthchecker|googlehc|consul)/i;
const BROWSER = /^(mozilla|opera)\//i;
const MARK = /[^u]bot|crawl|spider|slurp|scrap|fetch|agent|-user|preview|https?:|compatible; (?!msie|konq)|headless|cursor\/|windsurf\/|trae\/|chatgpt\/|genspark|\) code(-insiders)?\/1|devin|novaact|anchor /i;
const ASSISTANT = /^https?:\/\/(www\.)?(chatgpt\.com|(chat|labs)\.openai\.com|claude\.ai|perplexity\.ai|(gemini|bard|notebooklm|aistudio)\.google\.com|copilot\.(microsoft\.)?com|grok\.com|x\.com\/i\/grok|(l\.)?meta\.ai|(chat|lechat)\.mistral\.ai|chat\.deepseek\.com|chat\.qwen\.ai|tongyi\.aliyun\.com|kimi\.(com|ai|moonshot\.cn)|doubao\.com|(ai|yiyan)\.baidu\.com|chatglm\.cn|you\.com|duck\.ai|phind\.com|poe\.com|assistant\.kagi\.com|kagi\.com\/assistant|search\.brave\.com\/ask|(iask|character|app\.jasper)\.ai|app\.writesonic\.com|manus\.im|andisearch\.com|liner\.com|chat-gpt\.org|chatplus\.com)([\/:?#]|$)/i;
const TAGS = ["via", "vt", "utm_source", "utm_medium", "utm_campaign", "ref"];
const env = (name) => globalThis.process?.env?.[name];

export function createCollector({ key = env("FIRSTPICK_KEY"), url = env("FIRSTPICK_URL"), source, sendAll = false } = {}) {
  const endpoint = (url || "https://firstpick.example").replace(/\/+$/, "") + "/api/collect";
  const queue = [], stats = { sent: 0, rejected: 0, failed: 0, dropped: 0 };
  let sending, timer;

  // touch records a request, if it may be an agent's. header(name) returns a header of it, visitor() your own id of the session.
  function touch(header, { host, target, method, status, ip }, visitor) {
    try {
      const [path, query] = target.split("#")[0].split("?");
      if (!key || !/^(GET|HEAD)$/.test(method) || (ASSET.test(path) || BUILD.test(path)) && !KEEP.test(path)) return;
      const h = (name) => header(name) || undefined, ua = h("user-agent") ?? "", referrer = h("referer")?.split(/[?#]/)[0];
      if (HEALTH.test(ua)) return;
      const agent = !BROWSER.test(ua) || MARK.test(ua) || h("signature-agent") || /markdown/i.test(h("accept"));
      const tags = new URLSearchParams([...new URLSearchParams(query)].filter(([name]) => TAGS.includes(name)));
      if (!agent && !sendAll && !["via", "vt", "utm_source"].some((t) => tags.has(t)) && !ASSISTANT.test(referrer)) return;
      push({
        type: "touch", host, path: tags.size ? `${path}?${tags}` : path, method, status, visitorToken: visitor?.(),
        signals: { source, userAgent: ua, referrer, accept: h("accept"), ip: agent || sendAll ? ip : undefined,
          signature: h("signature"), signatureInput: h("signature-input"), signatureAgent: h("signature-agent") },
      });
    } catch { stats.failed++; } // a report must never break a page
  }

  // push queues an event of any type, see https://firstpick.example/openapi.yaml; its id stays the same when it is sent again.
  function push(event) {
    if (!key) return;
    queue.push({ id: crypto.randomUUID(), ts: new Date().toISOString(), ...event });
    if (queue.length > 5000) { queue.shift(); stats.dropped++; }
    if (queue.length >= 100) flush();
    else if (!timer && !sending) { timer = setTimeout(flush, 2000); timer.unref?.(); }
  }

  // flush sends what waits; the promise never rejects.
  function flush() {
    if (queue.length && !sending) sending = drain();
    return Promise.resolve(sending);
  }

  async function drain() {
    clearTimeout(timer); timer = undefined;
    while (queue.length) {
      const batch = queue.splice(0, 100);
      let outcome = await post(batch);
      if (outcome === "failed") { await new Promise((done) => setTimeout(done, 1000)); outcome = await post(batch); }
      stats[outcome] += batch.length;
    }
    sending = undefined;
  }

  // What strangers send may be long, and must not make a request too large for all events in it.
  const cut = (_, v) => (typeof v === "string" ? v.slice(0, 1024) : v);

  async function post(events) {
    try {
      const answer = await fetch(endpoint, {
        method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` },
        body: JSON.stringify({ sentAt: new Date().toISOString(), events }, cut), signal: AbortSignal.timeout(3000),
      });
      await answer.text();
      return answer.ok ? "sent" : answer.status >= 500 || answer.status === 429 ? "failed" : "rejected";
    } catch { return "failed"; }
  }
  return { touch, push, flush, stats };
}

// clientIP believes X-Forwarded-For as far as your own proxies wrote it, and nothing of it if you did not say how many there are:
// FIRSTPICK_TRUSTED_PROXIES=1 for one, or FIRSTPICK_IP_HEADER=cf-connecting-ip for a header that your CDN overwrites.
export function clientIP(header, remote, { ipHeader = env("FIRSTPICK_IP_HEADER"), trustedProxies = env("FIRSTPICK_TRUSTED_PROXIES") } = {}) {
  const hops = (header("x-forwarded-for") || "").split(",").map((hop) => hop.trim()).filter(Boolean);
  if (ipHeader) return header(ipHeader) || undefined;
  if (trustedProxies > 0) return hops.at(-trustedProxies);
  return hops.length || header("forwarded") || header("via") ? undefined : remote;
}

// flushAtExit sends what waits before a server ends. If you handle the signals yourself, await collector.flush() there.
export function flushAtExit(collector) {
  const node = globalThis.process;
  node?.once?.("beforeExit", collector.flush);
  for (const signal of ["SIGTERM", "SIGINT"]) {
    node?.once?.(signal, async () => {
      const alone = node.listenerCount(signal) === 0;
      await Promise.race([collector.flush(), new Promise((done) => setTimeout(done, 5000))]);
      if (alone) node.kill(node.pid, signal);
    });
  }
}
