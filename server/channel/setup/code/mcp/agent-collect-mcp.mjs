import { createCollector, flushAtExit } from "./agent-collect.mjs";

const collector = createCollector({ source: "mcp" });
flushAtExit(collector);

// counted wraps the handler of a tool of an McpServer, so that its calls are reported with the name of the client.
export function counted(mcp, tool, handler) {
  return (...args) => {
    try {
      const who = mcp.server.getClientVersion();
      collector.push({ type: "touch", signals: { source: "mcp", mcp: { method: "tools/call", tool, client: who?.name, clientVersion: who?.version } } });
    } catch { collector.stats.failed++; }
    return handler(...args);
  };
}
