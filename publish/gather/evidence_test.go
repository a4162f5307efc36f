package gather

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const toolsFile = `category:
  slug: web
  name: Web
  domain: dev-tools
  summary: For tests.
tools:
  - slug: flask
    name: Flask
    domains: [flask.example]
    packages: {pypi: [flask]}
  - slug: django
    name: Django
    domains: [django.example]
    packages: {pypi: [django]}
`

// TestEvidenceStandsWhereItSays reads transcripts with the extractor itself.
func TestEvidenceStandsWhereItSays(t *testing.T) {
	c, err := catalog.Load(fstest.MapFS{"catalog/web.yaml": {Data: []byte(toolsFile)}}, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("web")
	x := pick.New(category, c.Version)
	for name, tt := range map[string]struct {
		said transcript.Transcript
		want trialset.Evidence
	}{
		"a plain sentence": {
			transcript.Transcript{FinalText: "It depends. I'd go with Flask. Good luck!"},
			trialset.Evidence{Tool: "flask", Level: 2, Kind: "statement", In: "finalText", Quote: "I'd go with Flask."},
		},
		"markdown, a link and a curly apostrophe": {
			transcript.Transcript{FinalText: "# Answer\n\n1. I\u2019d go with [**Flask**](https://flask.example/a_b) for `this`[2].\n"},
			trialset.Evidence{Tool: "flask", Level: 2, Kind: "statement", In: "finalText", Quote: "I\u2019d go with [**Flask**](https://flask.example/a_b) for `this`[2]."},
		},
		"an import": {
			transcript.Transcript{Diff: []transcript.FileChange{{Path: "README.md", Added: []string{"x"}}, {Path: "app.py", Added: []string{"import os", "import flask"}}}},
			trialset.Evidence{Tool: "flask", Level: 5, Kind: "import", In: "files", Index: 1, Path: "app.py", Line: 2, Quote: "import flask"},
		},
		"a dependency": {
			transcript.Transcript{Diff: []transcript.FileChange{{Path: "requirements.txt", AddedDeps: []string{"django==5"}}}},
			trialset.Evidence{Tool: "django", Level: 6, Kind: "manifest", In: "files", Path: "requirements.txt", Quote: "django==5"},
		},
		"a command": {
			transcript.Transcript{Commands: []transcript.Command{{Cmd: "ls", Exit: new(0)}, {Cmd: " pip install flask " + strings.Repeat("# and more ", 50), Exit: new(0)}}},
			trialset.Evidence{Tool: "flask", Level: 3, Kind: "command", In: "commands", Index: 1, Quote: strings.TrimSpace(("pip install flask " + strings.Repeat("# and more ", 50))[:300])},
		},
		"an import that a study lists": {
			transcript.Transcript{Listing: &transcript.Listing{Source: "s", Ecosystem: "pypi", Imports: []string{"os", "flask"}}},
			trialset.Evidence{Tool: "flask", Level: 5, Kind: "listed", In: "listing", Index: 1, Quote: "flask"},
		},
	} {
		r := x.Extract(tt.said)
		if len(r.Evidence) == 0 {
			t.Errorf("%s: no evidence: %+v", name, r)
			continue
		}
		told := encodeResult(&r, &tt.said).Evidence
		if d := cmp.Diff(tt.want, told[0]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, e := range told {
			if !stands(e, &tt.said) {
				t.Errorf("%s: %+v does not stand there", name, e)
			}
		}
	}
	asks := transcript.Transcript{FinalText: "How many requests do you serve a day?"}
	if r := x.Extract(asks); !slices.Contains(encodeResult(&r, &asks).Details, trialset.AskedUser) {
		t.Errorf("an answer that asks back has no detail: %+v", r)
	}
	given := pick.Result{Details: []pick.Detail{{Name: pick.AskedUser}, {Name: "any text"}, {Name: pick.AskedUser}}}
	if got := encodeResult(&given, &asks).Details; !slices.Equal(got, []string{trialset.AskedUser}) {
		t.Errorf("details of an import: %q", got)
	}
	said := &transcript.Transcript{FinalText: "Weighed.\nFlask\ncarries the day."}
	judged := placed(pick.Evidence{Kind: "judge", Path: "model-1", Quote: "Flask\ncarries the day."}, said)
	if d := cmp.Diff(trialset.Evidence{Kind: "judge", In: "finalText", Path: "model-1", Quote: "Flask\ncarries the day."}, judged); d != "" {
		t.Errorf("a quote of a judge: %s", d)
	}
	lost := placed(pick.Evidence{Kind: "import", Path: "gone.py", Line: 3, Quote: "q"}, &transcript.Transcript{})
	if d := cmp.Diff(trialset.Evidence{Kind: "import", Path: "gone.py", Line: 3, Quote: "q"}, lost); d != "" {
		t.Errorf("evidence whose file was left out: %s", d)
	}
}

// stands says whether a reader finds evidence where it says.
func stands(e trialset.Evidence, t *transcript.Transcript) bool {
	switch e.In {
	case trialset.InText:
		return strings.Contains(t.FinalText, e.Quote)
	case trialset.InCommands:
		return strings.Contains(t.Commands[e.Index].Cmd, e.Quote)
	case trialset.InListing:
		return t.Listing.Imports[e.Index] == e.Quote
	case trialset.InFiles:
		f := t.Diff[e.Index]
		if e.Line > 0 {
			return f.Path == e.Path && strings.Contains(f.Added[e.Line-1], e.Quote)
		}
		return f.Path == e.Path
	default:
		return false
	}
}

// FuzzFind holds that what is found is a part of the text, and is the quote but for
// markdown.
func FuzzFind(f *testing.F) {
	f.Add("I'd use [**Flask**](https://x.example) [1].", "I'd use Flask")
	f.Add("](](](", "(")
	f.Add("a\u2019b http://x y", "a'b")
	f.Add("[12", "12")
	f.Fuzz(func(t *testing.T, text, quote string) {
		got := find(text, quote)
		if got == "" {
			return
		}
		if !strings.Contains(text, got) {
			t.Errorf("%q is not in %q", got, text)
		}
		if bare(got) != bare(quote) {
			t.Errorf("%q is found for %q", got, quote)
		}
	})
}

func TestTokensAreToldAsFarAsTheyAreKnown(t *testing.T) {
	for name, tt := range map[string]struct {
		said journal.Answer
		want string
	}{
		"nothing":   {journal.Answer{}, `null`},
		"two sums":  {journal.Answer{InTokens: 5, OutTokens: 7}, `{"input":5,"cacheRead":0,"cacheWrite":0,"output":7,"reasoning":0,"searches":0}`},
		"all parts": {journal.Answer{InTokens: 6, OutTokens: 9, Usage: &prices.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 9, Reasoning: 4, Searches: 5}}, `{"input":6,"cacheRead":2,"cacheWrite":3,"output":9,"reasoning":4,"searches":5}`},
	} {
		got, err := json.Marshal(encodeTokens(&tt.said))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, tt.want, err)
		}
	}
}

func TestUnknownExitsAndSources(t *testing.T) {
	got, err := json.Marshal(encodeAnswer(&journal.Answer{Transcript: transcript.Transcript{
		Commands: []transcript.Command{{Cmd: "npm test", Exit: new(0)}, {Cmd: "npm run dev"}},
		Sources:  []transcript.Source{{URL: "https://stripe.com"}, {URL: "https://docs.stripe.com", Opened: true}},
	}}))
	for _, want := range []string{
		`"commands":[{"cmd":"npm test","exit":0},{"cmd":"npm run dev","exit":null}]`,
		`"sources":[{"url":"https://stripe.com","opened":false},{"url":"https://docs.stripe.com","opened":true}]`,
	} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s lacks %s (%v)", got, want, err)
		}
	}
	if got, _ := json.Marshal(encodeAnswer(&journal.Answer{})); strings.Contains(string(got), "sources") {
		t.Errorf("sources of none: %s", got)
	}
}

// TestOutcomesAreThoseOfTheRunner: the list for packages that may not import the runner.
func TestOutcomesAreThoseOfTheRunner(t *testing.T) {
	var want []string
	for _, k := range pick.Kinds() {
		want = append(want, string(k))
	}
	if diff := cmp.Diff(append(want, trialset.Excluded, trialset.Unresolved), trialset.Outcomes()); diff != "" {
		t.Error(diff)
	}
}
