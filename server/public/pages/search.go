package pages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/public/views"
)

// find searches for a name. Languages in it choose the parts of observed boards; if nothing matches, it searches again
// without them: "typescript orm". A language alone also finds its observed boards.
func find(s *snapshotview.Site, query string) found {
	out := named(s, query)
	if out.known {
		out.rivals, out.unused = views.FirstRivals(s.Rivals(query)), s.Unused(query)
	}
	if out.Tool != nil || out.ObservedTool != nil {
		return out
	}
	rest, languages := withoutLanguages(s, query)
	if rest == "" {
		for _, b := range s.Observed {
			if slices.ContainsFunc(b.Languages, func(l observed.LanguageBoard) bool { return slices.Contains(languages, l.Language) }) {
				out.observe(b, true)
			}
		}
	}
	if two := halves(s, query); len(two.tools)+len(two.unmeasured) > 0 || out.nothing() && len(two.unknown) > 0 {
		return two
	}
	if len(languages) > 0 && out.nothing() {
		out = named(s, rest)
	}
	out.Query, out.languages = query, languages
	return out
}

// halves looks up both names of a search for a comparison; it is empty for other searches.
func halves(s *snapshotview.Site, query string) found {
	out := found{Query: query, Suggestions: []foundTool{}, Categories: []foundCategory{}}
	m := twoTools.FindStringSubmatch(query)
	if m == nil {
		return out
	}
	for _, name := range m[1:] {
		ref, known := s.Ref(name)
		if slug, ok := s.Slug(name); ok {
			ref.Slug, known = slug, true
		}
		_, page := s.Views.Tool(ref.Slug)
		switch {
		case page:
			out.tools = append(out.tools, ref.Slug)
		case known:
			out.unmeasured = append(out.unmeasured, ref.Name)
		default:
			out.unknown = append(out.unknown, name)
		}
	}
	return out
}

// withoutLanguages splits the names of languages of observed boards off a query.
func withoutLanguages(s *snapshotview.Site, query string) (rest string, languages []string) {
	var kept []string
	for _, word := range strings.Fields(query) {
		found := ""
		for _, b := range s.Observed {
			for _, l := range b.Languages {
				if strings.EqualFold(l.Language, word) {
					found = l.Language
				}
			}
		}
		switch {
		case found == "":
			kept = append(kept, word)
		case !slices.Contains(languages, found):
			languages = append(languages, found)
		}
	}
	return strings.Join(kept, " "), languages
}

// named searches for tools and boards by their names.
func named(s *snapshotview.Site, query string) found {
	out := found{Query: query, Suggestions: []foundTool{}, Categories: []foundCategory{}}
	if query == "" {
		return out
	}
	one := func(q string) (foundTool, bool) {
		r, by, known := s.Find(q)
		out.known = out.known || known && by == "" && q == query
		return foundTool{r.Tool, r.Slug, r.Category, r.URL}, by != ""
	}
	for _, form := range spellings(query) {
		if t, ok := one(form); ok {
			out.Tool = &t
			return out
		}
	}
	for _, form := range spellings(query) {
		if slug, ok := s.Slug(form); ok && out.ObservedTool == nil {
			if tool, ok := s.Views.ObservedTool(slug); ok {
				out.ObservedTool = &foundObserved{Name: tool, Slug: slug, Observed: true, URL: s.BaseURL + "/tools/" + slug}
			}
		}
	}
	named, near := s.Named(query)
	for i, slug := range slices.Concat([]string{query}, named, near) {
		t, measured := one(slug)
		b, seen := s.ObservedOf(slug)
		ref, _ := s.Ref(slug)
		switch {
		case slices.Contains(out.tools, ref.Slug):
		case (measured || seen) && len(out.tools) == maxTools:
		case measured:
			out.Suggestions, out.tools = append(out.Suggestions, t), append(out.tools, ref.Slug)
		case seen:
			out.observe(b, false)
			if _, page := s.Views.ObservedTool(ref.Slug); page {
				out.tools = append(out.tools, ref.Slug)
			}
		case i > 0 && i <= len(named) && !out.known && len(out.unmeasured) < maxTools:
			out.unmeasured = append(out.unmeasured, ref.Name)
		}
	}
	boards := s.SuggestObserved(query)
	for _, b := range s.Observed {
		if slices.Contains(boards, b.Category) {
			out.observe(b, called(b.Name, b.Category, query))
		}
	}
	for _, slug := range s.SuggestCategories(query) {
		if b, ok := s.Leaderboard(slug); ok {
			c := foundCategory{Name: b.Name, Slug: b.Category, URL: b.URL, named: called(b.Name, b.Category, query)}
			out.named, out.Categories = out.named || c.named, append(out.Categories, c)
		}
	}
	return out
}

// spellings returns a query as it is, and of several words also with hyphens and as one word: react query,
// react-query, reactquery.
func spellings(query string) []string {
	out := []string{query}
	if words := strings.Fields(query); len(words) > 1 {
		out = append(out, strings.Join(words, "-"), strings.Join(words, ""))
	}
	return out
}

// suggest returns pages whose names match what was found, and then the tools near it.
func suggest(s *snapshotview.Site, got found) (out []foundPage) {
	list := s.Views.Suggest(got.Query, maxPages)
	near := got.tools
	if got.Tool != nil {
		near = []string{got.Tool.Slug}
	} else if got.ObservedTool != nil {
		near = []string{got.ObservedTool.Slug}
	}
	for _, slug := range near {
		if t, ok := s.Views.SuggestTool(slug); ok && len(list) < maxPages && !slices.ContainsFunc(list, func(p views.Suggestion) bool { return p.Path == t.Path }) {
			list = append(list, t)
		}
	}
	for _, p := range list {
		out = append(out, foundPage{p.Name, p.Kind, p.Note, s.BaseURL + p.Path})
	}
	var names []string // of tools of the catalogue without a page
	if ref, ok := s.Ref(got.Query); got.known && ok {
		names = append(names, ref.Name)
	} else if len(out) == 0 && len(got.Query) >= minQuery {
		names = got.unmeasured
	}
	for _, name := range names {
		if len(out) < maxPages && !slices.ContainsFunc(out, func(p foundPage) bool { return p.Name == name }) {
			out = append(out, foundPage{name, "tool", noTrials, s.BaseURL + "/search?" + url.Values{"q": {name}}.Encode()})
		}
	}
	return out
}

// noTrials is the note of a tool of the catalogue without a page.
const noTrials = "no trials yet"

// minQuery is how long a query must be, in bytes, to find boards and tools without a page by a part of their names.
const minQuery = 3

// maxPages is how many pages a search suggests.
const maxPages = 8

// maxTools is how many tools a search finds.
const maxTools = 10

// called reports whether a board has a query of minQuery bytes and more in its name or its address, in any
// case.
func called(name, slug, query string) bool {
	query = strings.ToLower(query)
	return len(query) >= minQuery && (strings.Contains(strings.ToLower(name), query) || strings.Contains(slug, query))
}

// search finds a tool: it leads people to the tool's page or shows what is near, and
// answers programs in JSON or markdown, by the Accept header.
func (h *Handler) search(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	head := w.Header()
	head.Set("Vary", "Accept")
	head.Set("X-Robots-Tag", "noindex")
	got := find(s, cut(strings.TrimSpace(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))))
	path := ""
	if got.Tool == nil && got.ObservedTool == nil {
		path = compared(s, got.Query)
	}
	var body []byte
	var err error
	contentType := "text/html; charset=utf-8"
	switch {
	case wantsJSON(r):
		contentType = "application/json; charset=utf-8"
		got.Pages = suggest(s, got)
		body, err = json.Marshal(got)
	case path != "" && (!negotiate.PrefersMarkdown(r) || strings.HasPrefix(path, "/compare/")):
		head.Set("Cache-Control", "public, max-age=60")
		http.Redirect(w, r, path, http.StatusSeeOther)
		return nil
	case negotiate.PrefersMarkdown(r):
		contentType = "text/markdown; charset=utf-8"
		got.Pages = suggest(s, got)
		body = got.markdown(s.BaseURL)
	case got.Tool != nil:
		head.Set("Cache-Control", "public, max-age=60")
		http.Redirect(w, r, strings.TrimPrefix(got.Tool.URL, s.BaseURL), http.StatusSeeOther)
		return nil
	case got.ObservedTool != nil:
		head.Set("Cache-Control", "public, max-age=60")
		http.Redirect(w, r, strings.TrimPrefix(got.ObservedTool.URL, s.BaseURL), http.StatusSeeOther)
		return nil
	default:
		body, err = s.Views.Search(got.page())
	}
	if err != nil {
		return err
	}
	head.Set("Content-Type", contentType)
	head.Set("Cache-Control", "public, max-age=60")
	head.Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a write error means that the client disconnected
	}
	return nil
}

// compared is the path of the comparison that a search asks for by two known names, or that of the list of comparisons
// where no board has both; empty for other searches.
func compared(s *snapshotview.Site, query string) string {
	m := twoTools.FindStringSubmatch(query)
	if m == nil {
		return ""
	}
	x, known := s.Slug(m[1])
	y, both := s.Slug(m[2])
	if !known || !both {
		return ""
	}
	if x != y && s.Views.Comparable(x, y) {
		return views.ComparePath(x, y)
	}
	return "/compare?" + url.Values{"a": {x}, "b": {y}}.Encode()
}

// twoTools is a search for a comparison: flask vs django.
var twoTools = lazyregexp.MustCompile(`(?i)^(.+?)\s+(?:vs\.?|versus|or)\s+(.+)$`)

// wantsJSON says whether a request asks for JSON and not for a page.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

// cut returns what of a query is looked at and shown again, in characters.
func cut(s string) string {
	if runes := []rune(s); len(runes) > tools.MaxQuery {
		return string(runes[:tools.MaxQuery])
	}
	return s
}
