package mcp

import "strings"

// clients are what programs call themselves, in clientInfo or User-Agent, and how
// links to them are tagged. The first that is part of the name counts.
func clients() [][2]string {
	return [][2]string{
		{"claude-code", "claude-code"}, {"claude", "claude"}, {"cursor", "cursor"}, {"chatgpt", "chatgpt"}, {"openai", "chatgpt"}, {"codex", "codex"},
		{"visual studio code", "vscode"}, {"vscode", "vscode"}, {"copilot", "copilot"}, {"gemini", "gemini"}, {"windsurf", "windsurf"}, {"opencode", "opencode"},
		{"goose", "goose"}, {"cline", "cline"}, {"zed", "zed"}, {"inspector", "inspector"},
	}
}

// via is the tag of links for a client: few values, none of which a caller chooses
// freely, so that results can be cached and no client writes text into a site's reports.
func via(client string) string {
	client = strings.ToLower(client)
	if client == "webmcp" { // our own pages, for an agent in the browser
		return client
	}
	for _, c := range clients() {
		if strings.Contains(client, c[0]) {
			return "mcp-" + c[1]
		}
	}
	return "mcp-other"
}
