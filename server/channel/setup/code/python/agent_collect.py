"""Tells firstpick which AI agents read this site; guide: https://firstpick.example/setup.md

Views by people are not sent, unless an agent's link or an assistant brought them. Does nothing without a key.
WSGI: app = AgentCollect(app)    ASGI: app = AgentCollectASGI(app)
"""
import atexit, collections, datetime, json, os, re, threading, time, urllib.error, urllib.parse, urllib.request, uuid

ASSET = re.compile(r"\.(css|js|mjs|cjs|map|wasm|webmanifest|png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|heic|woff2?|ttf|otf|eot|mp3|mp4|m4a|m4v|webm|og[gav]|wav|mov|avi|m3u8|ts|zip|gz|tgz|bz2|xz|br|7z|rar|tar|dmg|exe|msi|deb|rpm|pkg|iso)$", re.I)
BUILD = re.compile(r"^\/(_next|_vercel|cdn-cgi|_nuxt|_app)\/")
KEEP = re.compile(r"^\/\.well-known\/|\/openapi\.[^\/]*$", re.I)
HEALTH = re.compile(r"^(kube-probe|elb-healthchecker|googlehc|consul)", re.I)
BROWSER = re.compile(r"^(mozilla|opera)\/", re.I)
MARK = re.compile(r"[^u]bot|crawl|spider|slurp|scrap|fetch|agent|-user|preview|https?:|compatible; (?!msie|konq)|headless|cursor\/|windsurf\/|trae\/|chatgpt\/|genspark|\) code(-insiders)?\/1|devin|novaact|anchor ", re.I)
ASSISTANT = re.compile(r"^https?:\/\/(www\.)?(chatgpt\.com|(chat|labs)\.openai\.com|claude\.ai|perplexity\.ai|(gemini|bard|notebooklm|aistudio)\.google\.com|copilot\.(microsoft\.)?com|grok\.com|x\.com\/i\/grok|(l\.)?meta\.ai|(chat|lechat)\.mistral\.ai|chat\.deepseek\.com|chat\.qwen\.ai|tongyi\.aliyun\.com|kimi\.(com|ai|moonshot\.cn)|doubao\.com|(ai|yiyan)\.baidu\.com|chatglm\.cn|you\.com|duck\.ai|phind\.com|poe\.com|assistant\.kagi\.com|kagi\.com\/assistant|search\.brave\.com\/ask|(iask|character|app\.jasper)\.ai|app\.writesonic\.com|manus\.im|andisearch\.com|liner\.com|chat-gpt\.org|chatplus\.com)([\/:?#]|$)", re.I)
TAGS = ("via", "vt", "utm_source", "utm_medium", "utm_campaign", "ref")


def _now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")


class Collector:
    def __init__(self, key=None, url=None, source="python", send_all=False):
        self.key = key or os.environ.get("FIRSTPICK_KEY")
        self.endpoint = (url or os.environ.get("FIRSTPICK_URL") or "https://firstpick.example").rstrip("/") + "/api/collect"
        self.source, self.send_all = source, send_all
        self.stats = {"sent": 0, "rejected": 0, "failed": 0, "dropped": 0}
        self._start()
        if hasattr(os, "register_at_fork"):  # threads do not survive a fork, and what waits is the parent's to send
            os.register_at_fork(after_in_child=self._start)
        atexit.register(self.flush, 5)

    def _start(self):
        self.queue, self.wake, self.sending = collections.deque(), threading.Event(), threading.Lock()
        if self.key:
            threading.Thread(target=self._run, daemon=True).start()

    def touch(self, header, host, target, method, status=None, ip=None, visitor=None):
        """Records a request, if it may be an agent's. header(name) returns a header of it, visitor() your own id of the session."""
        try:
            path, _, query = target.partition("#")[0].partition("?")
            if not self.key or method not in ("GET", "HEAD") or (ASSET.search(path) or BUILD.search(path)) and not KEEP.search(path):
                return
            agent, referrer = header("user-agent") or "", (header("referer") or "").split("?")[0].split("#")[0]
            if HEALTH.search(agent):
                return
            tags = [(k, v) for k, v in urllib.parse.parse_qsl(query) if k in TAGS]
            maybe = not BROWSER.search(agent) or MARK.search(agent) or header("signature-agent") or "markdown" in (header("accept") or "").lower()
            if not (maybe or self.send_all or ASSISTANT.search(referrer) or {"via", "vt", "utm_source"} & {k for k, _ in tags}):
                return
            def cut(text):  # what strangers send must not make a request too large for all events in it
                return text[:1024] if text else None
            self.push({
                "type": "touch", "host": cut(host), "path": cut(path + ("?" + urllib.parse.urlencode(tags) if tags else "")), "method": method,
                "status": status, "visitorToken": visitor() if visitor else None,
                "signals": {
                    "source": self.source, "userAgent": agent[:1024], "referrer": cut(referrer), "accept": cut(header("accept")),
                    "ip": ip if maybe or self.send_all else None, "signature": cut(header("signature")),
                    "signatureInput": cut(header("signature-input")), "signatureAgent": cut(header("signature-agent")),
                },
            })
        except Exception:  # a report must never break a page
            self.stats["failed"] += 1

    def push(self, event):
        """Queues an event of any type; its id stays the same when it is sent again."""
        if not self.key:
            return
        if len(self.queue) >= 5000:
            self.queue.popleft()
            self.stats["dropped"] += 1
        self.queue.append({"id": str(uuid.uuid4()), "ts": _now(), **event})
        if len(self.queue) >= 100:
            self.wake.set()

    def _run(self):
        while True:
            self.wake.wait(2)
            self.wake.clear()
            self.flush()

    def flush(self, seconds=float("inf")):
        """Sends what waits, for about that long at most. Not for the path of a request."""
        stop = time.monotonic() + seconds
        with self.sending:
            while self.queue and time.monotonic() < stop:
                batch = [self.queue.popleft() for _ in range(min(100, len(self.queue)))]
                outcome = self._post(batch)
                if outcome == "failed":
                    time.sleep(1)
                    outcome = self._post(batch)
                self.stats[outcome] += len(batch)

    def _post(self, events):
        body = json.dumps({"sentAt": _now(), "events": events}).encode()
        request = urllib.request.Request(self.endpoint, body, {"Content-Type": "application/json", "Authorization": "Bearer " + self.key})
        try:
            with urllib.request.urlopen(request, timeout=3):
                return "sent"
        except urllib.error.HTTPError as err:
            return "failed" if err.code >= 500 or err.code == 429 else "rejected"
        except Exception:
            return "failed"


def client_ip(header, remote):
    """Believes X-Forwarded-For as far as your own proxies wrote it: FIRSTPICK_TRUSTED_PROXIES=1, or FIRSTPICK_IP_HEADER=cf-connecting-ip."""
    hops = [hop.strip() for hop in (header("x-forwarded-for") or "").split(",") if hop.strip()]
    if os.environ.get("FIRSTPICK_IP_HEADER"):
        return header(os.environ["FIRSTPICK_IP_HEADER"].lower())
    proxies = int(os.environ.get("FIRSTPICK_TRUSTED_PROXIES") or 0)
    if proxies > 0:
        return hops[-proxies] if len(hops) >= proxies else None
    return None if hops or header("forwarded") or header("via") else remote


class AgentCollect:
    """WSGI middleware. visitor(environ) may return your own id of the session."""

    def __init__(self, app, visitor=None, **options):
        self.app, self.visitor, self.collector = app, visitor, Collector(**options)

    def __call__(self, environ, start_response):
        seen = []

        def touch(status):
            if not seen:  # an error may start the answer a second time
                seen.append(status)
                header = lambda name: environ.get("HTTP_" + name.upper().replace("-", "_"))
                path = urllib.parse.quote((environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")).encode("latin-1"), safe="/:@!$&'()*+,;=~")
                query = environ.get("QUERY_STRING")
                self.collector.touch(
                    header, environ.get("HTTP_HOST"), path + ("?" + query if query else ""), environ["REQUEST_METHOD"], status,
                    client_ip(header, environ.get("REMOTE_ADDR")), self.visitor and (lambda: self.visitor(environ)))

        def started(status, headers, *exc_info):
            touch(int(status[:3]))
            return start_response(status, headers, *exc_info)

        try:
            return self.app(environ, started)
        except Exception:
            touch(500)
            raise


class AgentCollectASGI:
    """ASGI middleware. visitor(scope) may return your own id of the session."""

    def __init__(self, app, visitor=None, **options):
        self.app, self.visitor, self.collector = app, visitor, Collector(**options)

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status = 500  # of an application that fails before it answers

        async def sent(message):
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, sent)
        finally:
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            path = (scope.get("raw_path") or urllib.parse.quote(scope["path"]).encode()).decode("latin-1").partition("?")[0]
            query = scope.get("query_string", b"").decode("latin-1")
            self.collector.touch(
                headers.get, headers.get("host"), path + ("?" + query if query else ""), scope["method"], status,
                client_ip(headers.get, (scope.get("client") or [None])[0]), self.visitor and (lambda: self.visitor(scope)))
