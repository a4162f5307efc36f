// Package archivetest makes small archives for tests.
package archivetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing" //nolint:depguard // a package of tests
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/archive"
)

// The snapshots of the archive, the current one first, and one of its trials: number 7 of
// the eval web, whose answer is Hostile of package sitetest.
const (
	Current = "4f1c0d2e9a7b3c5d6e8f"
	Older   = "0a1b2c3d4e5f60718293"
	Trial   = "00c1d7a94f2be8136507"
	Unknown = "ffffffffffffffffffff" // no snapshot
)

// A Source is an archive in a folder. Every snapshot of any id but Unknown has the same files: the
// trials of two evals, web and team/web:2, of the category webserver.
type Source struct {
	Root string
	// Calls counts what the handler asks for: lists, histories and comparisons.
	Calls atomic.Int64
	stamp atomic.Int64
	files []trialset.File
	line  []nights.Line // what History returns; nil for one night
}

// New writes an archive whose evals have so many trials each. hostile is the text of every
// answer; without one, a study listed the imports of the answers.
func New(t testing.TB, trials int, hostile string) *Source {
	t.Helper()
	evals := map[string][]trialset.Trace{}
	for _, eval := range []string{"web", "team/web:2"} {
		for i := range trials {
			e := trialset.Entry{
				ID: fmt.Sprintf("%020x", len(eval)*1_000_000+i), Agent: []string{"a", "=b()"}[i%2], Prompt: fmt.Sprintf("p%d", i%3), Template: "none", Repeat: 1 + i/6,
				Outcome: "tool", Picked: []string{"flask", "django"}[i%2],
			}
			if eval == "web" && i == 7 {
				e.ID = Trial
			}
			if i%5 == 4 {
				e.Outcome, e.Picked = "none", ""
			}
			t := trialset.Trace{Entry: e, PromptText: "Which framework?", Answer: &trialset.Answer{FinalText: hostile, Structured: []byte("null")}}
			if hostile == "" {
				t.Answer, t.Listing = nil, listing(e)
			}
			evals[eval] = append(evals[eval], t)
		}
	}
	return write(t, evals)
}

// listing is what a study published of an answer.
func listing(e trialset.Entry) *trialset.Listing {
	l := &trialset.Listing{Source: "study", Ecosystem: "pypi", Imports: []string{}}
	if e.Picked != "" {
		l.Imports = []string{e.Picked, "uvicorn"}
		l.Record = &trialset.Record{URL: "https://host.example/study/blob/c0ffee0123/out.json#L7", Commit: "c0ffee0123", File: "out.json", Line: 7, Text: `"x": 90`, Answers: 90, Of: 100}
	}
	return l
}

// write writes an archive of the trials of some evals.
func write(t testing.TB, evals map[string][]trialset.Trace) *Source {
	t.Helper()
	s := &Source{Root: t.TempDir()}
	for eval, traces := range evals {
		folder := trialset.Folder("webserver", eval)
		dir := filepath.Join(s.Root, filepath.FromSlash(folder))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w, err := trialset.NewWriter(dir, []string{"tool", "none"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range traces {
			if err := w.Add(&traces[i]); err != nil {
				t.Fatal(err)
			}
		}
		files, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			f.Path = folder + "/" + f.Path
			s.files = append(s.files, f)
		}
	}
	for name, text := range map[string]string{"manifest.json": `{"schemaVersion":2}`, "manifest.sig": "c2ln\n", "trials.parquet": "PAR1 of trials PAR1", "boards/webserver.json": "{}\n"} {
		s.Write(t, name, text)
		if filepath.Ext(name) != ".sig" && name != "manifest.json" {
			sum := sha256.Sum256([]byte(text))
			s.files = append(s.files, trialset.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(text))})
		}
	}
	s.Write(t, "log/checkpoint", "firstpick.example\n1\n")
	s.Write(t, "log/tile/0/000.p/1", "tile")
	s.Write(t, "secret", "not listed")
	return s
}

// Write writes a file of the archive, of every snapshot or below log/.
func (s *Source) Write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(s.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Publish changes the stamp.
func (s *Source) Publish() { s.stamp.Add(1) }

// Stamp implements archive.Source.
func (s *Source) Stamp(context.Context) (string, error) { return fmt.Sprint(s.stamp.Load()), nil }

// Snapshots implements archive.Source.
func (s *Source) Snapshots(context.Context) ([]archive.Snapshot, error) {
	s.Calls.Add(1)
	day := func(month time.Month) *time.Time {
		at := time.Date(2026, month, 6, 7, 8, 9, 0, time.UTC)
		return &at
	}
	counts := archive.Counts{Categories: 1, Tools: 14, Planned: 800, Trials: 800}
	return []archive.Snapshot{
		{ID: Current, AsOf: day(5), PublishedAt: day(5).Add(time.Hour), Counts: counts, Current: true, Signed: true},
		{ID: Older, AsOf: day(4), PublishedAt: day(4).Add(time.Hour), Counts: counts, Synthetic: true, Retracted: "The wrong model.", Errata: []string{"A typing error."}},
	}, nil
}

// Files implements archive.Source.
func (s *Source) Files(_ context.Context, id string) ([]trialset.File, error) {
	if id == Unknown {
		return nil, fs.ErrNotExist
	}
	return s.files, nil
}

// Open implements archive.Source.
func (s *Source) Open(_ context.Context, name string) (archive.File, int64, error) {
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	if id, rest, _ := strings.Cut(name, "/"); id != "log" { // of any snapshot
		name = rest
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fs.ErrNotExist
	}
	return f, info.Size(), err
}

// History implements archive.Source.
func (s *Source) History(_ context.Context, category string) (nights.Series, error) {
	s.Calls.Add(1)
	if s.line != nil {
		return nights.Series{Category: category, Nights: s.line}, nil
	}
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	return nights.Series{Category: category, Nights: []nights.Line{{
		At: at, Snapshot: Current, Breaks: []string{}, Synthetic: true,
		Tools: []nights.Tool{
			{Slug: "flask", PickRate: 0.5, CILow: 0.4, CIHigh: 0.6, NTrials: 100, Shown: []nights.Shown{{Agent: nights.AllAgents, Direction: nights.Drop, E: 530, Since: at}}},
			{Slug: "django", PickRate: 0.3, CILow: 0.2, CIHigh: 0.4, NTrials: 100, Shown: []nights.Shown{}},
		},
	}}}, nil
}

// Changes implements archive.Source.
func (s *Source) Changes(_ context.Context, older, newer string) ([]analytics.Change, error) {
	s.Calls.Add(1)
	if older != Older || newer != Current {
		return nil, fs.ErrNotExist
	}
	return []analytics.Change{
		{Category: "webserver", Tool: "django", Kind: "moved", OldRank: 2, NewRank: 1, OldRate: 0.1, NewRate: 0.5, Diff: 0.4, Notes: []string{}},
		{
			Category: "webserver", Tool: "flask", Kind: "moved", OldRank: 1, NewRank: 2, OldRate: 0.6, NewRate: 0.4, Diff: -0.2, Notes: []string{analytics.NoteIdentity},
			Test: &analytics.ChangeTest{Diff: -0.2, CILow: -0.3, CIHigh: -0.1, PAdjusted: 0.01, Significant: true, Paired: 9},
		},
	}, nil
}
