"""The site of all stacks: what each path answers."""
FOUND = {"/", "/docs", "/docs.md", "/robots.txt", "/llms.txt", "/sitemap.xml", "/openapi.json", "/.well-known/agent.json", "/style.css", "/logo.png", "/_next/static/app.js"}


def page(path):
    if path == "/boom":
        raise RuntimeError("boom")
    return (200 if path in FOUND else 404), f"this is {path}".encode()


def ready(port):
    print(f"listening on http://127.0.0.1:{port}/", flush=True)
