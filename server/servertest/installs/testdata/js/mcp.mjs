// A tool of an MCP server, called twice; what its SDK would know of the client is given.
import { counted } from "./agent-collect-mcp.mjs";

const mcp = { server: { getClientVersion: () => ({ name: "claude-code", version: "2.1.0" }) } };
const search = counted(mcp, "search", async ({ q }) => `found ${q}`);
console.log(await search({ q: "one" }), await search({ q: "two" }));
