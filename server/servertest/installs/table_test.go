package installs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/event"
)

const (
	gptBot     = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"
	claudeBot  = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
	claudeCode = "claude-code/2.1.4"
	chrome     = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
	phone      = "Mozilla/5.0 (Linux; Android 12; CUBOT_X20_PRO) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0.6343.99 Mobile Safari/537.36"
)

// A visit is a request to a site, and what is to be recorded of it.
type visit struct {
	name, method, target, userAgent, accept, referrer, session, forwarded string
	status                                                                int
	// touch is agent and what else is worth noting; empty for no touch at all.
	touch string
	// peer is set if the address of the connection is to be recorded.
	peer bool
}

// visits are the same for all stacks. Proxies of ours write one hop.
func visits() []visit {
	const page = "text/html,application/xhtml+xml,*/*;q=0.8"
	return []visit{
		{name: "a crawler", target: "/docs", userAgent: gptBot, touch: "GPTBot"},
		{name: "another, asking twice", target: "/docs", userAgent: claudeBot, touch: "ClaudeBot"},
		{name: "asking twice", target: "/docs", userAgent: claudeBot, touch: "ClaudeBot"},
		{name: "head only", method: "HEAD", target: "/docs", userAgent: gptBot, touch: "GPTBot"},
		{name: "a coding agent", target: "/docs.md", userAgent: claudeCode, accept: "text/markdown, text/html, */*", touch: "Claude Code markdown"},
		{name: "a coding agent that names a browser", target: "/docs", userAgent: chrome, accept: "text/markdown, text/html;q=0.9", touch: "Unnamed coding agent markdown"},
		{name: "nobody", target: "/", touch: "?"},
		{name: "a library", target: "/docs", userAgent: "python-requests/2.32", touch: "?"},
		{name: "robots.txt", target: "/robots.txt", userAgent: gptBot, touch: "GPTBot"},
		{name: "llms.txt", target: "/llms.txt", userAgent: claudeBot, touch: "ClaudeBot"},
		{name: "sitemap", target: "/sitemap.xml", userAgent: claudeBot, touch: "ClaudeBot"},
		{name: "openapi", target: "/openapi.json", userAgent: claudeCode, touch: "Claude Code"},
		{name: "well-known", target: "/.well-known/agent.json", userAgent: claudeCode, touch: "Claude Code"},
		{name: "not found", target: "/missing", userAgent: gptBot, status: 404, touch: "GPTBot"},
		{name: "an error", target: "/boom", userAgent: gptBot, status: 500, touch: "GPTBot"},
		{name: "a secret in the address", target: "/docs?token=hush&via=llms-txt", userAgent: gptBot, touch: "GPTBot via=llms-txt tag"},
		{name: "a person", target: "/docs", userAgent: chrome, accept: page},
		{name: "a person on a phone", target: "/", userAgent: phone, accept: page},
		{name: "a person from a search", target: "/docs", userAgent: chrome, accept: page, referrer: "https://www.google.com/"},
		{name: "a person with a query", target: "/docs?q=agents&page=2", userAgent: chrome, accept: page},
		{name: "a tagged landing", target: "/docs?utm_source=chatgpt.com&email=dana@example.com", userAgent: chrome, accept: page, session: "s-1", touch: "? utm=chatgpt.com tag visitor"},
		{name: "a landing by a link of an agent", target: "/?via=mcp", userAgent: chrome, accept: page, touch: "? via=mcp tag"},
		{name: "a landing from an assistant", target: "/docs", userAgent: chrome, accept: page, referrer: "https://chatgpt.com/c/secret?x=1", touch: "? referrer=chatgpt.com referrer"},
		{name: "a style sheet", target: "/style.css", userAgent: gptBot},
		{name: "a picture with a tag", target: "/logo.png?via=mcp", userAgent: chrome},
		{name: "a script of the framework", target: "/_next/static/app.js", userAgent: gptBot, status: -1},
		{name: "a health check", target: "/", userAgent: "kube-probe/1.31"},
		{name: "a form", method: "POST", target: "/docs", userAgent: gptBot, status: -1},
		{name: "through a proxy", target: "/", userAgent: gptBot, forwarded: "198.51.100.1, 203.0.113.9", touch: "GPTBot net=203.0.113.0/24"},
	}
}

// send makes the visit, and fails the test if the site does not answer as it
// should.
func (v *visit) send(s *site) {
	s.t.Helper()
	method := v.method
	if method == "" {
		method = "GET"
	}
	header := map[string]string{"User-Agent": v.userAgent}
	for name, value := range map[string]string{"Accept": v.accept, "Referer": v.referrer, "X-Session": v.session, "X-Forwarded-For": v.forwarded} {
		if value != "" {
			header[name] = value
		}
	}
	want := v.status
	if want == 0 {
		want = 200
	}
	if got := s.get(method, v.target, header); got != want && want > 0 {
		s.t.Errorf("%s: %s %s answers %d, want %d", v.name, method, v.target, got, want)
	}
}

// want returns the line of the touch of a visit.
func (v *visit) want(o *stack) string {
	if v.touch == "" {
		return ""
	}
	method, status, touch := v.method, v.status, v.touch
	if method == "" {
		method = "GET"
	}
	if status == 0 {
		status = 200
	}
	if o.noStatus {
		status = 0
	}
	if o.noVisitor {
		touch = strings.Replace(touch, " visitor", "", 1)
	}
	path, _, _ := strings.Cut(v.target, "?")
	if o.network != "" && !v.person() { // people's addresses stay where they are
		touch = strings.Replace(touch, " net="+o.network, "", 1) + " net=" + o.network
	}
	if v.peer && o.network == "" {
		touch += " net=127.0.0.0/24"
	}
	return fmt.Sprintf("%s %s %d %s", method, path, status, touch)
}

// person reports whether a person makes the visit.
func (v *visit) person() bool { return strings.HasPrefix(v.accept, "text/html") }

// line writes a touch as want does.
func line(r *event.Record) string {
	agent := r.Agent
	if agent == "" || r.Class == "http_library" {
		agent = "?"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d %s", r.Method, r.Path, r.Status, agent)
	for _, more := range []struct{ name, value string }{{"via", r.Via}, {"utm", r.UTMSource}, {"referrer", r.Referrer}} {
		if more.value != "" {
			b.WriteString(" " + more.name + "=" + more.value)
		}
	}
	if r.Evidence != "" {
		b.WriteString(" " + r.Evidence)
	}
	if r.Markdown {
		b.WriteString(" markdown")
	}
	if r.Visitor != "" {
		b.WriteString(" visitor")
	}
	if r.Network != "" {
		b.WriteString(" net=" + r.Network)
	}
	return b.String()
}

// compare holds what is stored to what is wanted. Order does not matter: what
// runs beside the answer may come in another.
func compare(t *testing.T, g *gate, o *stack, want []string) {
	t.Helper()
	var got []string
	for _, r := range g.records(t) {
		got = append(got, line(&r))
		if r.Type != event.Touch || r.Source != o.source || !strings.HasPrefix(r.Host, "127.0.0.1") {
			t.Errorf("%s is a %s of %q at %q", line(&r), r.Type, r.Source, r.Host)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("stored\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	g.complained(t)
}
