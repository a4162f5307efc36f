package agentid

import "strings"

// A referrer is an assistant's host, or a part of one.
type referrer struct {
	path   string // prefix; empty: all of the host
	family string
}

// loadReferrers loads the list of matomo, then ours, which overrides it.
func (t *Table) loadReferrers() {
	for _, name := range []string{"assistants.tsv", "referrers.tsv"} {
		for _, f := range rows(name, 2) {
			if source, ok := strings.CutPrefix(f[0], "utm:"); ok {
				t.sources[source] = f[1]
				continue
			}
			host, rest, _ := strings.Cut(f[0], "/")
			if rest != "" {
				rest = "/" + rest
			}
			t.referrers[host] = append([]referrer{{path: rest, family: f[1]}}, t.referrers[host]...)
		}
	}
}

// Referrer returns the family of the assistant that a referrer's host, or a path
// on it, belongs to. Search engines with an assistant on the same host have no family:
// their referrer cannot be distinguished from search.
func (t *Table) Referrer(host, path string) (family string, ok bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if h, port, found := strings.Cut(host, ":"); found && strings.Trim(port, "0123456789") == "" {
		host = h
	}
	host = strings.TrimPrefix(host, "www.")
	for _, r := range t.referrers[host] {
		if rest, under := strings.CutPrefix(path, r.path); under && (r.path == "" || rest == "" || rest[0] == '/' || rest[0] == '?') {
			return r.family, true
		}
	}
	return "", false
}

// UTMSource returns the family of the assistant that writes this utm_source on
// its links.
func (t *Table) UTMSource(s string) (family string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if family, ok = t.sources[s]; ok {
		return family, true
	}
	if strings.Contains(s, ".") {
		return t.Referrer(s, "")
	}
	return "", false
}

// MCPClient returns the agent of an MCP client by the name in its clientInfo. An unknown
// client keeps its name and has no class.
func (t *Table) MCPClient(name string) Agent {
	key := strings.ToLower(strings.TrimSpace(name))
	if key == "" {
		return Agent{Class: None, Source: Shape}
	}
	if a, ok := t.mcp[key]; ok {
		return a
	}
	// mcp-remote and its like name the client behind them in brackets.
	if inner, _, ok := strings.Cut(key, " ("); ok {
		if a, ok := t.mcp[inner]; ok {
			return a
		}
	}
	if a := t.coding(key); a.Source != Shape {
		return a
	}
	if len(name) > 100 {
		name = name[:100]
	}
	return Agent{Name: strings.ToValidUTF8(name, ""), Class: UnknownBot, Source: Shape}
}
