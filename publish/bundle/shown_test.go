package bundle_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

// shown is where the tests of the server's pages have two runs to show and compare.
const shown = "../../server/servertest/evalpages/testdata/bundles"

const shopFile = `category:
  slug: payments
  name: Payments
  domain: saas
  summary: For tests.
tools:
  - {slug: acorn, name: Acorn Pay, domains: [acorn.example], packages: {npm: [acorn-pay]}, hosts: [api.acorn.example]}
  - {slug: birch, name: Birch, domains: [birch.example], packages: {npm: [birch-sdk]}}
  - {slug: cedar, name: Cedar Billing, domains: [cedar.example], packages: {npm: [cedar-billing]}}
  - {slug: dogwood, name: Dogwood, domains: [dogwood.example], packages: {npm: [dogwood]}}
  - {slug: elm, name: Elmcart, domains: [elm.example], packages: {npm: [elmcart]}}
`

// TestTheBundlesOfTheServersPages holds those bundles to what Write makes now.
// FIRSTPICK_UPDATE=1 makes them anew.
func TestTheBundlesOfTheServersPages(t *testing.T) {
	for name, r := range map[string]shownRun{
		"before": {seed: 1, acorn: 0.45, version: "2.0.14", synthetic: true},
		"now":    {seed: 2, acorn: 0.70, version: "2.1.3", changed: "2.1.4", hostile: true},
	} {
		in := bundle.Input{RunsRoot: t.TempDir(), RunID: "run-one", Catalog: shopCatalog(t), Root: filepath.Join(t.TempDir(), "bundles"), Generator: "firstpick test"}
		r.write(t, in)
		m := write(t, in)
		place := filepath.Join(shown, name)
		if os.Getenv("FIRSTPICK_UPDATE") != "" {
			if err := os.RemoveAll(place); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(filepath.Join(place, m.ID), os.DirFS(filepath.Join(in.Root, m.ID))); err != nil {
				t.Fatal(err)
			}
		}
		there, err := os.ReadDir(place)
		if err != nil || len(there) != 1 || there[0].Name() != m.ID {
			t.Errorf("%s: the tests of the server read %v (%v), and Write makes %s; run this test with FIRSTPICK_UPDATE=1", name, there, err, m.ID)
		}
	}
}

func shopCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fstest.MapFS{"catalog/payments.yaml": {Data: []byte(shopFile)}}, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A shownRun is one of the two.
type shownRun struct {
	seed             uint64
	acorn            float64 // the share that picks it
	version, changed string  // of the agent that is a program, from its middle on
	hostile          bool    // one answer tries to break the page
	synthetic        bool
}

func (r *shownRun) write(t *testing.T, in bundle.Input) {
	t.Helper()
	e := eval.Eval{
		Name: "payments", Category: "payments", Repeats: 3, Templates: []string{"none"},
		Agents: []eval.Agent{
			{Name: "sonnet", Kind: eval.KindAnthropic, Model: "claude-sonnet-4-5"}, {Name: "gpt", Kind: eval.KindOpenAIResponses, Model: "gpt-5.1"},
			{Name: "claude-code", Kind: eval.KindClaudeCode, Model: "claude-sonnet-4-5"},
		},
	}
	for _, p := range []string{"saas-subscriptions", "marketplace", "one-off-checkout", "donations", "usage-based", "mobile-app", "invoices", "trial-to-paid"} {
		tags := eval.Tags{Ecosystem: "npm", Intent: "recommend", Persona: "developer"}
		if len(e.Prompts)%2 > 0 {
			tags = eval.Tags{Ecosystem: "pypi", Intent: "build"}
		}
		e.Prompts = append(e.Prompts, eval.Prompt{ID: p, Tags: tags, Text: "We build a product and need " + strings.ReplaceAll(p, "-", " ") + ".\nWhich payment service should we use? Name one and show how to start."})
	}
	trials := plan.New(&e)
	began := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	j, err := journal.Create(in.RunsRoot, journal.Run{ID: in.RunID, Eval: e, Planned: len(trials), CreatedAt: began, Extractor: pick.Version, Catalog: in.Catalog.Version, Synthetic: r.synthetic})
	if err != nil {
		t.Fatal(err)
	}
	var recs []journal.Record
	for _, a := range e.Agents {
		m := journal.Manifest{Agent: a.Name, Kind: a.Kind, Model: a.Model, Prices: "2026-11"}
		if a.Kind == eval.KindClaudeCode {
			m.Version = r.version
		}
		recs = append(recs, journal.Record{Kind: journal.KindManifest, Manifest: &m})
		if a.Kind == eval.KindClaudeCode && r.changed != "" {
			later := m
			later.Version = r.changed
			recs = append(recs, journal.Record{Kind: journal.KindManifest, Manifest: &later})
		}
	}
	category, _ := in.Catalog.Category("payments")
	x, dice := pick.New(category, in.Catalog.Version), rand.New(rand.NewPCG(r.seed, 9))
	hostile := r.hostile
	for i, trial := range trials {
		at := began.Add(time.Duration(i) * 11 * time.Second)
		cost := 0.004 + dice.Float64()/80
		attempt := 1
		if dice.IntN(9) == 0 {
			recs = append(recs, journal.Record{Kind: journal.KindAttempt, Trial: trial, At: at, Attempt: 1, Reason: "rate_limited: 429, come back in 8 s", CostUSD: new(float64)})
			attempt = 2
		}
		if i%29 == 20 {
			recs = append(recs, journal.Record{Kind: journal.KindExcluded, Trial: trial, At: at, Attempt: attempt, Reason: "timeout: no answer in 120 s", AtMostUSD: &cost})
			continue
		}
		if i == len(trials)-1 {
			continue // never asked
		}
		said := r.answer(dice, trial.Agent)
		if hostile && i > 5 && trial.Agent == "claude-code" {
			said, hostile = hostileAnswer(), false
		}
		res := x.Extract(said)
		var build *journal.Build
		if trial.Agent == "claude-code" && r.changed != "" { // of the eval's command
			build = &journal.Build{Exit: i % 2}
		}
		recs = append(recs, journal.Record{Kind: journal.KindResult, Trial: trial, At: at.Add(4 * time.Second), Attempt: attempt, Result: &res, Answer: &journal.Answer{
			Transcript: said, Build: build, Model: "as-reported-2026", CostUSD: &cost, WallMS: int64(3000 + dice.IntN(60_000)),
			Usage: &prices.Usage{Input: 800 + dice.IntN(4000), Output: 200 + dice.IntN(900), Reasoning: dice.IntN(100)},
		}})
	}
	if err := j.Append(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// answer is what an agent says, or does where it is a program.
func (r *shownRun) answer(dice *rand.Rand, agent string) transcript.Transcript {
	v := dice.Float64()
	tool, npm, name := "acorn", "acorn-pay", "Acorn Pay"
	switch {
	case v < r.acorn:
	case v < r.acorn+0.13:
		tool, npm, name = "birch", "birch-sdk", "Birch"
	case v < r.acorn+0.20:
		tool, npm, name = "cedar", "cedar-billing", "Cedar Billing"
	case v < 0.97:
		return transcript.Transcript{FinalText: "Before I choose: do you sell to people or to companies, and in which countries? It decides who collects the tax."}
	default:
		return transcript.Transcript{FinalText: "I cannot help with that.", Stop: transcript.StopRefusal}
	}
	if agent != "claude-code" {
		other := "Dogwood would do as well, but its fees are higher."
		var sources []transcript.Source
		if agent == "gpt" { // it searches
			sources = []transcript.Source{{URL: "https://" + tool + ".example/docs", Opened: true}, {URL: "https://docs.dogwood.example/pricing", Opened: v < 0.5}, {URL: "https://www.dogwood.example/"}, {URL: "https://compare.example/payments"}}
		}
		return transcript.Transcript{Sources: sources, FinalText: fmt.Sprintf("I recommend **%s**. It takes subscriptions and one-off payments, and its test mode is good.\n\n%s\n\n```ts\nimport { Client } from %q;\n\nconst client = new Client(process.env.KEY);\n```\n\nStart with a test account.", name, other, npm)}
	}
	said := name
	if dice.IntN(6) == 0 {
		said = "Birch"
	}
	return transcript.Transcript{
		FinalText: fmt.Sprintf("Checkout works. I chose %s for it and added a test.\n\n- `src/pay.ts` creates the session\n- `src/hook.ts` takes its events", said),
		Commands:  []transcript.Command{{Cmd: "npm install " + npm, Exit: new(0)}, {Cmd: "npm test", Exit: new(dice.IntN(2))}, {Cmd: "git status --short", Exit: new(0)}},
		Diff: []transcript.FileChange{
			{Path: "package.json", AddedDeps: []string{npm + "@^4.2.0"}, Added: []string{fmt.Sprintf("    %q: \"^4.2.0\",", npm)}},
			{Path: "src/pay.ts", Added: []string{fmt.Sprintf("import { Client } from %q;", npm), "", "export const client = new Client(process.env." + strings.ToUpper(tool) + "_KEY);", "", "export async function checkout(price: string) {", "  return client.sessions.create({ price, quantity: 1 });", "}"}},
		},
	}
}

// hostileAnswer is one that tries to break the page that shows it.
func hostileAnswer() transcript.Transcript {
	const bad = `</code></div></section><script>alert(1)</script><img src=x onerror=alert(2)><style>body{display:none}</style>{{.}}`
	return transcript.Transcript{
		FinalText: "I chose Acorn Pay." + bad + "\nI skipped Elmcart: Elmcart is too expensive for you \u202eand <img src=x onerror=alert(3) here.\n\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07a link\x1b]8;;\x07 \u202ereversed\u202c \u200bno width\n\nمرحبا بالعالم، هذا نص من اليمين إلى اليسار\n\n" + strings.Repeat("long", 20_000),
		Sources:   []transcript.Source{{URL: "https://evil.example/\"><script>alert(4)</script>\u202e", Opened: true}, {URL: "javascript:alert(5)", Opened: true}},
		Commands:  []transcript.Command{{Cmd: "npm install acorn-pay # " + bad, Exit: new(0)}, {Cmd: "echo " + strings.Repeat("x", 9000), Exit: new(127)}},
		Diff: []transcript.FileChange{
			{Path: "src/" + bad, Added: []string{bad, "import { Client } from \"acorn-pay\";"}},
			{Path: "package.json", AddedDeps: []string{"acorn-pay@^4"}, Added: []string{`"acorn-pay": "^4",`}},
		},
	}
}
