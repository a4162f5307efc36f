"""Serves an ASGI application, as far as the tests need it: HTTP/1.1, GET and HEAD, a connection for each request."""
import asyncio, signal

from agent_collect import AgentCollectASGI
from pages import page, ready


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        return
    status, body = page(scope["path"])
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": body})


wrapped = AgentCollectASGI(app, visitor=lambda scope: dict(scope["headers"]).get(b"x-session", b"").decode() or None)


async def connected(reader, writer):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ")
    path, _, query = target.partition("?")
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "headers": [(n.lower().encode(), v.strip().encode()) for n, _, v in (line.partition(":") for line in head[1:] if line)],
        "client": writer.get_extra_info("peername")[:2],
    }

    async def send(message):
        if message["type"] == "http.response.start":
            writer.write(b"HTTP/1.1 %d Whatever\r\nConnection: close\r\n" % message["status"])
            for name, value in message["headers"]:
                writer.write(name + b": " + value + b"\r\n")
            writer.write(b"\r\n")
        elif method != "HEAD":
            writer.write(message["body"])

    try:
        await wrapped(scope, None, send)
    except RuntimeError:
        writer.write(b"HTTP/1.1 500 Whatever\r\nConnection: close\r\n\r\nsorry")
    await writer.drain()
    writer.close()


async def main():
    await wrapped({"type": "lifespan"}, None, None)
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    ready(server.sockets[0].getsockname()[1])
    async with server:
        await told.wait()


asyncio.run(main())
