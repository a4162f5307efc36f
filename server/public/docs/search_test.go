package docs_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/public/docs/docstest"
)

func TestSearchFindsTheBestPlaceFirst(t *testing.T) {
	set := docstest.New(t)
	for query, want := range map[string]string{
		"quickstart":              "/docs/quickstart",
		"rate_limited":            "/docs/errors#rate_limited",
		"Idempotency-Key":         "/docs/errors#idempotency_conflict",
		"cursor":                  "/docs/mcp#cursor",
		"webhook signature":       "/docs/webhooks#the-signature",
		"backup":                  "/docs/backup-and-upgrade",
		"roll back a snapshot":    "/docs/operate",
		"deprecation":             "/docs/versioning",
		"GET /api/public/report":  "/docs/api/read#getReport",
		"how do I claim":          "/docs",
		"shortlist rate":          "/docs/glossary#shortlist-rate",
		"VS Code":                 "/docs/mcp#vs-code",
		"  LIMITS, by: name!  ":   "/docs/limits#limits-by-name",
		"changelog":               "/docs/changelog",
		"limit":                   "/docs/limits",
		"nginx access log recipe": "/setup",
	} {
		found := set.Search(query)
		if len(found) == 0 || !strings.HasPrefix(found[0].Path, want) {
			t.Errorf("%q finds %v first, want %s", query, found[:min(3, len(found))], want)
		}
	}
}

// What a newcomer types finds a page to follow before a type of the API.
func TestSearchFindsTasksFirst(t *testing.T) {
	set := docstest.New(t)
	for query, want := range map[string][]string{ // the first of these that is there comes first
		"github action":        {"/docs/github-action", "/docs/ci-gate"},
		"docker":               {"/docs/docker", "/docs/self-hosting"},
		"openai key":           {"/docs/ask-real-agents", "/docs/evals"},
		"anthropic api key":    {"/docs/ask-real-agents", "/docs/evals"},
		"write prompts":        {"/docs/write-prompts", "/docs/prompts"},
		"catalogue":            {"/docs/own-catalogue", "/docs/catalogue"},
		"own catalogue":        {"/docs/own-catalogue", "/docs/catalogue"},
		"postgresql":           {"/docs/postgresql", "/docs/self-hosting"},
		"first board":          {"/docs/tutorial"},
		"cost":                 {"/docs/control-cost"},
		"eval file":            {"/docs/eval-file"},
		"environment variable": {"/docs/configuration"},
		"pick rate":            {"/docs/glossary"},
		"threat":               {"/docs/threat-model"},
		"unbranded":            {"/docs/why-unbranded"},
	} {
		at := slices.IndexFunc(want, func(path string) bool { return set.Page(path) != nil })
		if at < 0 {
			continue // a page that is not written yet
		}
		found := set.Search(query)
		if len(found) == 0 || strings.Split(found[0].Path, "#")[0] != want[at] {
			t.Errorf("%q finds %v first, want %s", query, found[:min(4, len(found))], want[at])
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	set := docstest.New(t)
	for name, query := range map[string]string{
		"nothing": "", "blanks": " \t\n ", "signs": `"'<script>alert(1)</script>{{.}}../../etc`, "zeros": "\x00\x00", "no UTF-8": "\xff\xfe rate",
		"one long word": strings.Repeat("a", 1<<16), "many words": strings.Repeat("rate ", 1<<14), "cut within a letter": strings.Repeat("é", 150),
	} {
		found := set.Search(query)
		if len(found) > 20 {
			t.Errorf("%s: %d results", name, len(found))
		}
		for _, r := range found {
			if n := utf8.RuneCountInString(r.Excerpt); n > 170 || !utf8.ValidString(r.Excerpt) {
				t.Errorf("%s: an excerpt of %d characters", name, n)
			}
		}
	}
	if found := set.Search("zzzzqqqq"); len(found) != 0 {
		t.Errorf("a word that is nowhere is found: %v", found)
	}
}

func FuzzSearch(f *testing.F) {
	set := docstest.New(f)
	for _, s := range []string{"rate", "RATE limit", "İ ß ﬀ", "`a` | b", "\xc3\x28"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, r := range set.Search(query) {
			if !utf8.ValidString(r.Excerpt) || set.Page(strings.Split(r.Path, "#")[0]) == nil {
				t.Errorf("%q finds %+v", query, r)
			}
		}
	})
}
