// Offers our tools to an agent in the browser (WebMCP). Where the browser has no such
// thing, nothing happens, and nothing is fetched. The page looks the same with it.
"use strict";
{
  const context = document.modelContext ?? navigator.modelContext;

  // ask fetches JSON of ours without cookies. What went wrong is an answer too: an
  // agent can read it and fix its call.
  const ask = async (path, options) => {
    try {
      const response = await fetch(path, { credentials: "omit", ...options });
      return await response.json();
    } catch {
      return { error: "temporarily_unavailable", error_description: "The service did not answer. Try again in a moment." };
    }
  };

  // call asks the MCP server of this host, so that an answer is the same by every way.
  const call = async (name, input) => {
    const message = {
      jsonrpc: "2.0", id: 1, method: "tools/call",
      params: {
        name, arguments: input ?? {},
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "io.modelcontextprotocol/clientInfo": { name: "webmcp", version: "1" },
        },
      },
    };
    const answer = await ask("/api/mcp", {
      method: "POST", body: JSON.stringify(message),
      headers: {
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name,
      },
    });
    if (answer.result) return answer.result.structuredContent ?? JSON.parse(answer.result.content[0].text);
    return answer.jsonrpc ? { error: "invalid_request", error_description: answer.error.message } : answer;
  };

  // What needs a token is not offered: pages have none, and a cookie is not asked.
  const offer = async () => {
    const manifest = await ask("/.well-known/webmcp");
    for (const t of manifest.tools ?? []) {
      if (t.auth.type !== "none") continue;
      const tool = {
        name: t.name, title: t.title, description: t.description, inputSchema: t.inputSchema, annotations: t.annotations,
        execute: (input) => call(t.name, input),
      };
      // A name that is taken, or a form of the interface that we do not know, costs this tool only.
      try { await context.registerTool(tool); } catch (problem) { console.info("WebMCP:", t.name, String(problem)); }
    }
  };
  if (context?.registerTool) offer();

  // A search that an agent submits is answered to it, and the page stays.
  document.querySelector("form[toolname=findTool]")?.addEventListener("submit", (event) => {
    if (!event.agentInvoked || !event.respondWith) return;
    event.preventDefault();
    const query = new URLSearchParams(new FormData(event.target));
    event.respondWith(ask("/search?" + query, { headers: { "Accept": "application/json" } }).then((found) => {
      for (const place of [found.tool, ...(found.suggestions ?? []), ...(found.categories ?? []), ...(found.observedCategories ?? []), found.observedTool]) {
        if (place) place.url += "?via=webmcp";
      }
      delete found.pages; // suggestions for people
      return found;
    }));
  });
}
