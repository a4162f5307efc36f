package wellknown

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
)

// llms is /llms.txt: an overview of the service, in links that agents can follow. The examples are
// a tool and a category that are measured, where there are any.
func (s *Service) llms(current *snapshotview.Site) string {
	tool, category := "/api/public/report?q=stripe", "/api/public/leaderboard"
	if current != nil && len(current.Boards) > 0 && len(current.Boards[0].Tools) > 0 {
		b := current.Boards[0]
		tool, category = "/api/public/report?q="+b.Tools[0].Slug, category+"?category="+b.Category
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n\n", title, summary)
	b.WriteString("Every pick rate has a 95 % interval over prompt families (ciLow, ciHigh; 0 to 1 with one prompt, for which nothing is known of others), a number of trials (nTrials) and a date (asOf); estimand says what the rates are of. A rival beats a tool only where significant is true. No key is needed to read; reading one's own site's agent traffic and running evals of one's own need one.\n\n")
	section := func(name string, links ...[3]string) {
		fmt.Fprintf(&b, "## %s\n\n", name)
		for _, l := range links {
			fmt.Fprintf(&b, "- [%s](%s%s): %s\n", l[0], s.BaseURL, l[1], l[2])
		}
		b.WriteString("\n")
	}
	names := func(list []tools.Tool) string {
		var out []string
		for _, t := range list {
			out = append(out, t.Name)
		}
		return strings.Join(out, ", ")
	}
	section("Ask",
		[3]string{"A tool's report", tool, "JSON; q is a name, slug, domain or package"},
		[3]string{"A category's leaderboard", category, "JSON; without category the list of categories"},
		[3]string{"What coding agents used", "/api/public/observed", "JSON; observed boards of real work, such as pull requests, never pick rates; category names one of them"},
		[3]string{"MCP server", "/api/mcp", "Streamable HTTP, no key; tools " + names(tools.Tools()) + "; with an eval key also " + names(tools.Own())},
		[3]string{"Server card", "/api/mcp/server-card", "how MCP clients connect"},
		[3]string{"OpenAPI 3.1", "/openapi.yaml", "every endpoint with examples and errors"},
	)
	group, docs := "", [][3]string(nil)
	flush := func() {
		if len(docs) > 0 {
			section(strings.TrimSuffix("Documents: "+group, ": "), docs...)
		}
		docs = nil
	}
	for _, d := range s.Documents() { // those of a group follow each other
		if d.Group != group {
			flush()
			group = d.Group
		}
		docs = append(docs, [3]string{d.Title, d.Path + ".md", d.Description})
	}
	flush()
	section("For sites and their agents",
		[3]string{"Install the collector", "/setup.md", "which agents read a site, and which visits convert"},
		[3]string{"Register and claim", "/auth.md", "how an agent gets a workspace and a token for its user"},
		[3]string{"Skills", skillIndex, "the same as agent skills"},
	)
	section("Optional", [3]string{"All documents in one", "/llms-full.txt", "long"})
	return b.String()
}

// llmsFull is all documents in one.
func (s *Service) llmsFull() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n> %s\n", title, summary)
	for _, d := range s.Documents() {
		fmt.Fprintf(&b, "\n---\n\nSource: %s%s.md\n\n%s\n", s.BaseURL, d.Path, strings.TrimSpace(d.Markdown))
	}
	return b.String()
}

// aiBots are named besides everybody: scanners look for a rule that is meant for them.
func aiBots() []string {
	return []string{
		"GPTBot", "OAI-SearchBot", "ChatGPT-User", "ClaudeBot", "Claude-SearchBot", "Claude-User", "PerplexityBot", "Perplexity-User", "Google-Extended", "Applebot-Extended", "CCBot",
		"meta-externalagent", "Amazonbot", "MistralAI-User",
	}
}

// robots allows everything: the service is made for agents. What
// belongs to one person is left out.
func (s *Service) robots() string {
	bots := ""
	for _, name := range aiBots() {
		bots += "User-agent: " + name + "\n"
	}
	return "# Agents are welcome. " + s.BaseURL + "/llms.txt lists the content.\n" + bots +
		"User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=yes\nAllow: /\nDisallow: /workspaces\nDisallow: /agents\nDisallow: /signin\nDisallow: /claim\nDisallow: /invitations\nDisallow: /operator\n\n" +
		"Sitemap: " + s.BaseURL + "/sitemap.xml\n"
}

type urlset struct {
	XMLName xml.Name   `xml:"urlset"`
	XMLNS   string     `xml:"xmlns,attr"`
	URLs    []urlEntry `xml:"url"`
}

type urlEntry struct {
	Loc     string `xml:"loc"`
	LastMod string `xml:"lastmod,omitempty"`
}

// maxAddresses is how many pages a sitemap may list (sitemaps.org).
const maxAddresses = 50_000

// newSitemap lists the pages of a snapshot, and the documents.
func (h *Handler) newSitemap(s *snapshotview.Site) (*negotiate.Document, error) {
	set := urlset{XMLNS: "http://www.sitemaps.org/schemas/sitemap/0.9"}
	if s == nil {
		set.URLs = []urlEntry{{Loc: h.BaseURL + "/"}}
	}
	for _, d := range h.Documents() {
		set.URLs = append(set.URLs, urlEntry{Loc: h.BaseURL + d.Path})
	}
	if s != nil {
		all := s.Views.Addresses()
		for _, a := range all[:min(len(all), maxAddresses-len(set.URLs))] {
			e := urlEntry{Loc: h.BaseURL + a.Path}
			if a.AsOf != nil {
				e.LastMod = a.AsOf.UTC().Format(time.RFC3339)
			}
			set.URLs = append(set.URLs, e)
		}
	}
	var buf bytes.Buffer
	buf.WriteString(xml.Header)
	if err := xml.NewEncoder(&buf).Encode(set); err != nil {
		return nil, err
	}
	return negotiate.NewDocument("application/xml; charset=utf-8", "public, max-age=300", buf.Bytes()), nil
}

// validity is the lifetime of a security.txt: less than a year (RFC
// 9116, 2.5.5), and the same for everybody who asks on a day.
const validity = 180 * 24 * time.Hour

func (h *Handler) security(w http.ResponseWriter, r *http.Request) {
	if h.Contact == "" {
		h.errors.Write(w, r, apierr.NotFound())
		return
	}
	expires := h.now().UTC().Truncate(24 * time.Hour).Add(validity).Format(time.RFC3339)
	negotiate.NewDocument("text/plain; charset=utf-8", day, []byte(
		"Contact: "+h.Contact+"\nExpires: "+expires+"\nPreferred-Languages: en\nCanonical: "+h.BaseURL+"/.well-known/security.txt\n")).ServeHTTP(w, r)
}
