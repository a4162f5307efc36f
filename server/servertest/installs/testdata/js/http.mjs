// Node's own server, with the middleware for Express and Connect.
import { createServer } from "node:http";
import { agentCollect } from "./agent-collect-express.mjs";
import { page, ready } from "./pages.mjs";

const collect = agentCollect({ visitor: (req) => req.headers["x-session"] });
const server = createServer((req, res) => collect(req, res, () => {
  try {
    const { status, type, body } = page(req.url.split("?")[0]);
    res.writeHead(status, { "Content-Type": type }).end(body);
  } catch {
    res.writeHead(500).end("sorry");
  }
}));
server.listen(0, "127.0.0.1", () => ready(server.address().port));
