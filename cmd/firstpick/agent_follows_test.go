package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// What a link leads to, for the agent that follows all of them.

// A found page is what an address answered.
type foundPage struct {
	status int
	kind   string // media type
	body   string
	ids    map[string]bool // places in it
	links  []string
}

// pagesOfAShape is how many addresses are followed that differ only in names and values: the
// pages of trials, and the filters of boards, are many thousand.
const pagesOfAShape = 60

// alike is an address without what its pages differ in: the words of its path after the first
// and the values of its parameters.
func alike(u *url.URL) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	parameters := slices.Sorted(maps.Keys(u.Query()))
	return fmt.Sprint(first, strings.Count(u.Path, "/"), path.Ext(u.Path), parameters)
}

// followsEverything begins with what the agent knows and follows the links of every
// page, document, manifest and header, of each shape at most pagesOfAShape. Each leads
// somewhere: to the place that it names, too.
func (a *newcomer) followsEverything() {
	a.t.Helper()
	seen := map[string]*foundPage{}
	from := map[string]string{}
	queue := []string{}
	anchors := map[string]string{} // address with a place in it, and who names it
	shapes := map[string]int{}
	add := func(where string, links []string) {
		base, err := url.Parse(where)
		if err != nil {
			a.t.Fatal(err)
		}
		for _, link := range links {
			u, err := base.Parse(link)
			if err != nil {
				a.t.Errorf("%s has a link that is none: %s", where, link)
				continue
			}
			full := u.String()
			if !strings.HasPrefix(full, a.base) || strings.ContainsAny(link, "{}$") { // somebody else's, or a pattern
				continue
			}
			if u.Fragment != "" {
				anchors[full] = where
				u.Fragment = ""
			}
			if address := u.String(); from[address] == "" {
				from[address] = where
				if shapes[alike(u)]++; shapes[alike(u)] <= pagesOfAShape {
					queue = append(queue, address)
				}
			}
		}
	}
	add(a.base+"/", []string{"/", "/robots.txt", "/setup.md", "/auth.md"})
	for len(queue) > 0 {
		address := queue[0]
		queue = queue[1:]
		p := a.fetch(address)
		seen[address] = p
		if p.dead(strings.TrimPrefix(address, a.base)) {
			a.t.Errorf("%s leads to %s, which answers %d", from[address], address, p.status)
		}
		add(address, p.links)
	}
	for address, where := range anchors {
		page, place, _ := strings.Cut(address, "#")
		p := seen[page]
		if p != nil && p.status == http.StatusOK && !p.ids[place] {
			a.t.Errorf("%s leads to %s, and there is no such place", where, address)
		}
	}
	a.t.Logf("%d addresses of %d, %d places, %d shapes", len(seen), len(from), len(anchors), len(shapes))
	if len(seen) < 150 || len(anchors) < 50 {
		a.t.Errorf("only %d addresses and %d places were found", len(seen), len(anchors))
	}
}

// dead says whether a link should not be there. Endpoints are named in documents too: they
// take other methods, or want a credential or a parameter, and say so.
func (p *foundPage) dead(path string) bool {
	endpoint := strings.HasPrefix(path, "/api/")
	switch p.status {
	case http.StatusOK:
		return false
	case http.StatusSeeOther: // pages that want a person signed in
		return !slices.ContainsFunc([]string{"/agents", "/workspaces", "/claim"}, func(s string) bool { return strings.HasPrefix(path, s) })
	case http.StatusMethodNotAllowed, http.StatusUnauthorized:
		return !endpoint
	case http.StatusBadRequest:
		wantParameters := []string{"/api/public/report", "/api/public/compare", "/api/public/lookup", "/api/public/changes"}
		return !slices.Contains(wantParameters, path)
	case http.StatusNotFound:
		return path != "/api/" // the name of the whole, as a resource
	}
	return true
}

func (a *newcomer) fetch(address string) *foundPage {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	resp, err := newBrowser().Do(req)
	if err != nil {
		a.t.Fatalf("%s: %v", address, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatalf("%s: %v", address, err)
	}
	p := &foundPage{status: resp.StatusCode, body: string(data), ids: map[string]bool{}}
	p.kind, _, _ = strings.Cut(resp.Header.Get("Content-Type"), ";")
	for _, m := range linkValue.FindAllStringSubmatch(strings.Join(resp.Header.Values("Link"), ", "), -1) {
		p.links = append(p.links, m[1])
	}
	switch {
	case p.status != http.StatusOK:
	case p.kind == "text/html":
		p.readHTML()
	case p.kind == "text/markdown" || p.kind == "text/plain":
		p.readText()
	case strings.HasSuffix(p.kind, "json") && !strings.HasSuffix(address, "/openapi.json"): // whose examples are of elsewhere
		p.readQuoted()
	case p.kind == "application/xml":
		for _, m := range locations.FindAllStringSubmatch(p.body, -1) {
			p.links = append(p.links, m[1])
		}
	}
	return p
}

var (
	locations = regexp.MustCompile(`<loc>([^<]+)</loc>`)
	inBlocks  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	inLinks   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	naked     = regexp.MustCompile(`https?://[^\s)<>"'|\]]+`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	marked    = regexp.MustCompile(`<a id="([^"]+)">`)
	quoted    = regexp.MustCompile(`"(https?://[^"\\\s]+)"`)
)

func (p *foundPage) readHTML() {
	doc, err := html.Parse(strings.NewReader(p.body))
	if err != nil {
		return
	}
	for n := range doc.Descendants() {
		post := slices.ContainsFunc(n.Attr, func(at html.Attribute) bool { return at.Key == "method" && strings.EqualFold(at.Val, "post") })
		for _, at := range n.Attr {
			switch {
			case at.Key == "id":
				p.ids[at.Val] = true
			case (at.Key == "href" || at.Key == "src" || at.Key == "action" && !post) && !strings.HasPrefix(at.Val, "data:"):
				p.links = append(p.links, at.Val)
			}
		}
	}
}

// readText reads markdown, and text that is written like it.
func (p *foundPage) readText() {
	text := inBlocks.ReplaceAllString(p.body, "")
	for _, m := range inLinks.FindAllStringSubmatch(text, -1) {
		p.links = append(p.links, m[1])
	}
	for _, link := range naked.FindAllString(inLinks.ReplaceAllString(text, ""), -1) {
		p.links = append(p.links, strings.TrimRight(link, ".,;:"))
	}
	for _, m := range marked.FindAllStringSubmatch(p.body, -1) {
		p.ids[m[1]] = true
	}
	for _, m := range heading.FindAllStringSubmatch(p.body, -1) {
		p.ids[slugOf(m[1])] = true
	}
}

func (p *foundPage) readQuoted() {
	for _, m := range quoted.FindAllStringSubmatch(p.body, -1) {
		p.links = append(p.links, m[1])
	}
}

var notWords = regexp.MustCompile(`[^a-z0-9 _-]`)

// slugOf is the name that markdown renderers give to the place of a heading.
func slugOf(heading string) string {
	return strings.ReplaceAll(notWords.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
