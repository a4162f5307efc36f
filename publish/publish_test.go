package publish_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

const categoryFile = `category:
  slug: %[1]s
  name: %[1]s
  domain: dev-tools
  summary: For tests.
tools:
  - slug: %[1]s-one
    name: One of %[1]s
    domains: [%[1]s-one.example]
    packages: {pypi: [%[1]s-one]}
  - slug: %[1]s-two
    name: Two of %[1]s
    domains: [%[1]s-two.example]
    packages: {pypi: [%[1]s-two]}
`

func testCatalog(t *testing.T) *catalog.Catalog {
	t.Helper()
	fsys := fstest.MapFS{}
	for _, slug := range []string{"alpha", "beta", "gamma"} {
		fsys["catalog/"+slug+".yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, categoryFile, slug)}
	}
	c, err := catalog.Load(fsys, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testRun(category string) journal.Run {
	e := eval.Eval{
		Name: "eval-" + category, Category: category, Repeats: 10, Templates: []string{"none"}, Source: "/home/somebody/eval.yaml",
		Agents: []eval.Agent{{Name: "a", Kind: "recorded"}, {Name: "b", Kind: "recorded"}},
	}
	for i := range 5 {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprintf("p%d", i), Text: fmt.Sprintf("prompt %d", i)})
	}
	created := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	return journal.Run{ID: "run-" + category, Eval: e, Planned: 100, CreatedAt: created, Extractor: pick.Version, Notes: []string{"A <note> & more."}}
}

// records are results for all trials but one, in the plan's order.
func records(r journal.Run) []journal.Record {
	var recs []journal.Record
	for i, trial := range plan.New(&r.Eval)[1:] {
		slug := r.Eval.Category + "-one"
		if i%3 == 0 {
			slug = r.Eval.Category + "-two"
		}
		res := &pick.Result{Kind: pick.Tool, Picked: slug, Shortlist: []string{slug}, Method: pick.MethodAction, Level: 5, Rule: "actions use one tool", FirstNamed: slug}
		switch {
		case i%10 == 9:
			res = &pick.Result{Kind: pick.DIY, Method: pick.MethodStatement, Rule: "commits to own work"}
		case i == 1:
			res = &pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: "lone mention", FirstNamed: slug}
		}
		recs = append(recs, journal.Record{
			Kind: journal.KindResult, Trial: trial, At: r.CreatedAt.Add(time.Duration(i) * time.Minute), Attempt: 1,
			Answer: &journal.Answer{Model: trial.Agent + "-2026-01"}, Result: res,
		})
	}
	return recs
}

// testInput is two measured categories of three. Parts says how many appends
// and syncs the trials come in.
func testInput(t *testing.T, parts int) publish.Input {
	t.Helper()
	return inputOf(t, parts, testRun("beta"), testRun("alpha"))
}

func inputOf(t *testing.T, parts int, runs ...journal.Run) publish.Input {
	t.Helper()
	runsRoot := t.TempDir()
	s, err := trialstore.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, r := range runs {
		j, err := journal.Create(runsRoot, r)
		if err != nil {
			t.Fatal(err)
		}
		recs := records(r)
		if parts > 1 {
			slices.Reverse(recs)
		}
		for part := range slices.Chunk(recs, (len(recs)+parts-1)/parts) {
			if err := j.Append(t.Context(), part...); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Sync(t.Context(), runsRoot); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return publish.Input{Store: s, Catalog: testCatalog(t), Runs: runs, RunsRoot: runsRoot, Place: publish.Local(filepath.Join(t.TempDir(), "snapshots")), Generator: "firstpick test"}
}

func build(t *testing.T, in publish.Input) (publish.Manifest, string) {
	t.Helper()
	m, id, err := publish.Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return m, id
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSameTrialsGiveTheSameBytes(t *testing.T) {
	first := testInput(t, 1)
	_, id := build(t, first)
	want := files(t, filepath.Join(root(first), id))
	for _, parts := range []int{1, 7} {
		in := testInput(t, parts)
		_, got := build(t, in)
		if d := cmp.Diff(want, files(t, filepath.Join(root(in), got))); d != "" || got != id {
			t.Errorf("in %d parts: id %s, want %s\n%s", parts, got, id, d)
		}
	}
	if _, again := build(t, first); again != id {
		t.Errorf("second build is %s, want %s", again, id)
	}
	if entries, _ := os.ReadDir(root(first)); len(entries) != 1 {
		t.Errorf("%d entries beside one snapshot", len(entries))
	}
	for _, leak := range []string{"run-alpha", "/home/", root(first)} {
		for name, data := range want {
			if strings.Contains(data, leak) {
				t.Errorf("%s holds %q", name, leak)
			}
		}
	}
}

func TestLoadRestoresWhatWasBuilt(t *testing.T) {
	in := testInput(t, 1)
	m, id := build(t, in)
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(m, s.Manifest); d != "" {
		t.Error(d)
	}
	if len(s.Boards) != 2 || s.Boards[0].Category != "alpha" || len(s.Refs) != 6 || len(s.Categories()) != 2 {
		t.Fatalf("%d boards, %d refs, %d categories", len(s.Boards), len(s.Refs), len(s.Categories()))
	}
	board, _ := s.Board("beta")
	if board.NTrials != 99 || *board.Coverage != 0.99 {
		t.Errorf("%d trials, coverage %v, want 99 and 0.99", board.NTrials, *board.Coverage)
	}
	want := publish.Counts{Categories: 2, Tools: len(s.Boards[0].Tools) + len(board.Tools), Planned: 200, Trials: 198}
	if d := cmp.Diff(want, m.Counts); d != "" {
		t.Error(d)
	}
	for _, st := range board.Tools {
		report, ok := s.Report("beta", st.Slug)
		if !ok {
			t.Fatalf("no report on %s", st.Slug)
		}
		data, err := os.ReadFile(filepath.Join(root(in), id, "reports", "beta", st.Slug+".json"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(report)
		if err != nil || len(again) == 0 {
			t.Fatal(err)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(data, &a), json.Unmarshal(again, &b)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("report on %s: %s", st.Slug, d)
		}
	}
	asked, began := m.Evals[0].Agents[0], testRun("alpha").CreatedAt
	conditions := []publish.Condition{{ID: "1", Reported: []string{"a-2026-01"}, From: began.Add(time.Minute), To: began.Add(98 * time.Minute), Answers: 49}}
	if d := cmp.Diff(publish.Agent{Name: "a", Asked: "a", Reported: []string{"a-2026-01"}, Conditions: conditions}, asked); d != "" {
		t.Error(d)
	}
}

// A snapshot has how its outcomes were read, and verifies.
func TestSnapshotsHoldHowOutcomesWereRead(t *testing.T) {
	in := testInput(t, 1)
	_, id := build(t, in)
	if _, err := publish.Verify(t.Context(), root(in), id, nil); err != nil {
		t.Fatal(err)
	}
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Boards {
		if b.Unresolved == nil || *b.Unresolved != 1 || b.DecidedBy == nil || b.DecidedBy.Undecided != 1 || b.DecidedBy.Actions+b.DecidedBy.Statement != b.NTrials-1 {
			t.Errorf("%s: unresolved %v, decided by %+v", b.Category, b.Unresolved, b.DecidedBy)
		}
		first := 0.0
		for _, tool := range b.Tools {
			r, _ := s.Report(b.Category, tool.Slug)
			if tool.FirstNamedRate == nil || *tool.FirstNamedRate < tool.PickRate || r.FirstNamedRate == nil || *r.FirstNamedRate != *tool.FirstNamedRate {
				t.Fatalf("%s: first named %v, report %v, pick rate %g", tool.Slug, tool.FirstNamedRate, r.FirstNamedRate, tool.PickRate)
			}
			first += *tool.FirstNamedRate
		}
		if want := 1 - b.DIYRate; math.Abs(first-want) > 1e-5 {
			t.Errorf("%s: first-named rates sum to %g, want %g", b.Category, first, want)
		}
	}
}

func writeKeys(t *testing.T) (private, public string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	priv, err1 := x509.MarshalPKCS8PrivateKey(key)
	pub, err2 := x509.MarshalPKIXPublicKey(key.Public())
	dir := t.TempDir()
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "pub.pem")
	err3 := os.WriteFile(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: priv}), 0o600)
	err4 := os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pub}), 0o600)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return private, public
}

func TestVerifySignature(t *testing.T) {
	private, public := writeKeys(t)
	key, err1 := publish.ReadPrivateKey(private)
	pub, err2 := publish.ReadPublicKey(public)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if _, err := publish.ReadPrivateKey(public); err == nil {
		t.Error("a public key was read as a private one")
	}
	in := testInput(t, 1)
	_, id := build(t, in)
	var damage *publish.DamageError
	if _, err := publish.Verify(t.Context(), root(in), id, pub); !errors.As(err, &damage) || damage.Path != "manifest.sig" {
		t.Errorf("unsigned: error %v", err)
	}
	trusting := func(keys ...ed25519.PublicKey) error {
		_, err := publish.LoadSigned(root(in), id, keys)
		return err
	}
	if err := trusting(pub); !errors.As(err, &damage) || damage.Path != "manifest.sig" {
		t.Errorf("unsigned, loaded: error %v", err)
	}
	if err := trusting(); err != nil {
		t.Errorf("unsigned, loaded without trusted keys: %v", err)
	}
	in.SignKey = key
	if _, again := build(t, in); again != id {
		t.Fatalf("signing changed the id")
	}
	report, err := publish.Verify(t.Context(), root(in), id, pub)
	if err != nil {
		t.Fatal(err)
	}
	if !report.SignatureValid || report.Documents != 9 || report.Trials != 198 || report.Files != 19 {
		t.Errorf("%+v", report)
	}
	other := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	if _, err := publish.Verify(t.Context(), root(in), id, other); !errors.As(err, &damage) || damage.Path != "manifest.sig" {
		t.Errorf("another key: error %v", err)
	}
	if err := trusting(other); !errors.As(err, &damage) || damage.Path != "manifest.sig" {
		t.Errorf("another key, loaded: error %v", err)
	}
	if err := trusting(other, pub); err != nil {
		t.Errorf("one of two keys, loaded: %v", err)
	}
}

func TestEveryChangedFileIsNamed(t *testing.T) {
	in := testInput(t, 1)
	m, id := build(t, in)
	names := []string{"manifest.json"}
	for _, f := range m.Files {
		names = append(names, f.Path)
	}
	for _, name := range names {
		path := filepath.Join(root(in), id, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed := slices.Clone(data)
		changed[len(changed)/2] ^= 1
		for what, bad := range map[string][]byte{"a bit flipped": changed, "cut short": data[:len(data)-1], "empty": nil} {
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			var damage *publish.DamageError
			if _, err := in.Place.Load(t.Context(), id); !errors.As(err, &damage) || damage.Path != name {
				t.Errorf("%s: %s: load: error %v", name, what, err)
			}
			if err := in.Place.Promote(t.Context(), id); !errors.As(err, &damage) {
				t.Errorf("%s: %s: promote: error %v", name, what, err)
			}
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root(in), id, "extra.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *publish.DamageError
	if _, err := publish.Verify(t.Context(), root(in), id, nil); !errors.As(err, &damage) || damage.Path != "extra.json" {
		t.Errorf("an added file: error %v", err)
	}
	if err := os.Truncate(filepath.Join(root(in), id, "refs.json"), 3); err != nil {
		t.Fatal(err)
	}
	build(t, in)
	if _, err := publish.Verify(t.Context(), root(in), id, nil); err != nil {
		t.Errorf("building again did not mend the snapshot: %v", err)
	}
}

// A snapshot lists the runs of its evals that were not published.
func TestSnapshotsListEveryRunOfTheirEvals(t *testing.T) {
	first, second := testRun("alpha"), testRun("alpha")
	first.ID, second.CreatedAt = "earlier", second.CreatedAt.Add(time.Hour)
	in := inputOf(t, 1, first, second)
	in.Runs = []journal.Run{second}
	m, _ := build(t, in)
	runs := m.Evals[0].Runs
	if len(runs) != 2 || runs[0].Published || !runs[1].Published || runs[0].Valid != 99 || !runs[0].AsOf.Before(*runs[1].AsOf) {
		t.Errorf("%+v", runs)
	}
}

// root is the folder of the snapshots of an input.
func root(in publish.Input) string { return string(in.Place.Store.(storage.Folder)) }

// TestPromptsAreInTheSnapshot: the document of a category has each prompt, also one
// without a trial, and its counts are those of the board.
func TestPromptsAreInTheSnapshot(t *testing.T) {
	in := inputOf(t, 1, testRun("alpha"), testRun("beta"))
	e := &in.Runs[0].Eval
	e.Prompts = append(slices.Clone(e.Prompts), eval.Prompt{ID: "unasked", Text: "nobody was asked", Tags: eval.Tags{Persona: "founder"}})
	_, id := build(t, in)
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Boards {
		outcomes, picks := analytics.Outcomes{}, 0
		for _, p := range b.Prompts {
			outcomes.Tool, outcomes.DIY, outcomes.Ambiguous = outcomes.Tool+p.Outcomes.Tool, outcomes.DIY+p.Outcomes.DIY, outcomes.Ambiguous+p.Outcomes.Ambiguous
			for _, tool := range p.Tools {
				picks += tool.Picks
			}
			if len(p.SHA256) != 64 {
				t.Errorf("%+v", p)
			}
		}
		if outcomes != b.Outcomes || picks != b.Outcomes.Tool {
			t.Errorf("%s: %+v and %d picks, want %+v", b.Category, outcomes, picks, b.Outcomes)
		}
		for _, tool := range b.Tools {
			if r, _ := s.Report(b.Category, tool.Slug); r.Breakdown == nil || len(r.ByPrompt) != len(b.Prompts) || len(r.ByAgent) != len(b.Agents) {
				t.Errorf("%s: %+v", tool.Slug, r.Breakdown)
			}
		}
	}
	last := s.Boards[0].Prompts[5]
	if last.Prompt != "unasked" || last.NTrials != 0 || last.Tags["persona"] != "founder" || last.URL != "/api/public/trials?category=alpha&prompt=eval-alpha%2Funasked" {
		t.Errorf("%+v", last)
	}
}
