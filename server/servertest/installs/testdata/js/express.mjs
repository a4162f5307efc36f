import express from "express";
import { agentCollect } from "./agent-collect-express.mjs";
import { page, ready } from "./pages.mjs";

const app = express();
app.use(agentCollect({ visitor: (req) => req.headers["x-session"] }));
app.use((req, res) => {
  const { status, type, body } = page(req.path);
  res.status(status).type(type).send(body);
});
app.use((err, req, res, next) => res.status(500).send("sorry"));
const server = app.listen(0, "127.0.0.1", () => ready(server.address().port));
