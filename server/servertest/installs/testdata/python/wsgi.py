import signal, threading
from wsgiref.simple_server import make_server

from agent_collect import AgentCollect
from pages import page, ready


def app(environ, start_response):
    status, body = page(environ["PATH_INFO"])
    start_response(f"{status} Whatever", [("Content-Type", "text/html"), ("Content-Length", str(len(body)))])
    return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]


server = make_server("127.0.0.1", 0, AgentCollect(app, visitor=lambda environ: environ.get("HTTP_X_SESSION")))
signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())  # it waits for serve_forever
ready(server.server_port)
server.serve_forever()
