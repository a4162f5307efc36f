package trialstore_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

const holdEnv = "TRIALSTORE_TEST_HOLD"

// TestMain lets the test binary be the other process that holds a file.
func TestMain(m *testing.M) {
	path := os.Getenv(holdEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	s, err := trialstore.Open(context.Background(), path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	_ = s.Close()
	os.Exit(0)
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func testRun(id, name, category string, created time.Time) journal.Run {
	e := eval.Eval{
		Name: name, Category: category, Repeats: 5, Templates: []string{"none"},
		Prompts: []eval.Prompt{{ID: "p1", Text: "one"}, {ID: "p2", Text: "two"}, {ID: "p3", Text: "three"}},
		Agents:  []eval.Agent{{Name: "a", Kind: "recorded"}, {Name: "b", Kind: "recorded"}},
	}
	return journal.Run{ID: id, Eval: e, Planned: 30, CreatedAt: created, Catalog: "sha256:c", Extractor: "1"}
}

// records are a result for each trial of the run but the last two, which are
// excluded.
func records(r journal.Run) []journal.Record {
	picks := []string{"flask", "django", "fastapi"}
	trials := plan.New(&r.Eval)
	recs := make([]journal.Record, 0, len(trials))
	for i, t := range trials {
		at := start.Add(time.Duration(i) * time.Second)
		if i >= len(trials)-2 {
			recs = append(recs, journal.Record{Kind: journal.KindExcluded, Trial: t, At: at, Reason: "network"})
			continue
		}
		cost := float64(i) / 8
		rec := journal.Record{
			Kind: journal.KindResult, Trial: t, At: at, Attempt: 1,
			Answer: &journal.Answer{Transcript: transcript.Transcript{FinalText: "answer " + t.ID + " 'quoted'"}, Model: "m-2026", InTokens: i, OutTokens: 2, CostUSD: &cost, WallMS: 3},
			Result: &pick.Result{Kind: pick.Tool, Picked: picks[i%3], Shortlist: []string{"django", "flask"}, Method: pick.MethodAction, Level: 6},
		}
		if i%7 == 0 {
			rec.Result = &pick.Result{Kind: pick.DIY, Say: "flask"}
			rec.Answer.CostUSD = nil
		}
		recs = append(recs, rec)
	}
	return recs
}

func writeRun(t *testing.T, root string, r journal.Run, recs []journal.Record) {
	t.Helper()
	j, err := journal.Create(root, r)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, j, recs)
}

func addTo(t *testing.T, root, id string, recs []journal.Record) {
	t.Helper()
	j, err := journal.Open(root, id)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, j, recs)
}

func appendTo(t *testing.T, j *journal.Journal, recs []journal.Record) {
	t.Helper()
	if err := errors.Join(j.Append(t.Context(), recs...), j.Close()); err != nil {
		t.Fatal(err)
	}
}

func openStore(t *testing.T, path string) *trialstore.Store {
	t.Helper()
	s, err := trialstore.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func sync(t *testing.T, s *trialstore.Store, root string) trialstore.Loaded {
	t.Helper()
	got, err := s.Sync(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func cells(t *testing.T, s *trialstore.Store, category string, runs ...string) []analytics.Cell {
	t.Helper()
	got, _, err := s.Cells(t.Context(), category, runs)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func allTrials(t *testing.T, s *trialstore.Store, run string) []trialstore.TrialRow {
	t.Helper()
	got, err := s.Trials(t.Context(), trialstore.Filter{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestSyncLoadsOnceAndContinues(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	recs := records(r)
	writeRun(t, root, r, recs[:10])
	s := openStore(t, "")
	same(t, "first", sync(t, s, root), trialstore.Loaded{Runs: 1, Trials: 10})
	same(t, "again", sync(t, s, root), trialstore.Loaded{})
	// A trial that a second result follows keeps its first.
	again := recs[1]
	again.Result = &pick.Result{Kind: pick.None}
	addTo(t, root, "r1", append([]journal.Record{again}, recs[10:]...))
	sync(t, s, root)
	rows, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := trialstore.RunRow{
		ID: "r1", Eval: "web", Category: "web-frameworks", CreatedAt: micro(start), Planned: 30, Valid: 28, Excluded: 2,
		LastAt: micro(start.Add(27 * time.Second)), Latest: true, Current: true,
	}
	same(t, "runs", rows, []trialstore.RunRow{want})
	total := 0
	for _, c := range cells(t, s, "web-frameworks") {
		total += c.Trials
		if c.Outcomes.None > 0 {
			t.Error("a second result replaced the first")
		}
	}
	same(t, "trials in cells", total, 28)
}

// TestFamilyAndTagsAreLoaded loads trials of a tagged prompt, of an untagged one, and of
// a journal that an older program wrote.
func TestFamilyAndTagsAreLoaded(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	tags := eval.Tags{Ecosystem: "go", Intent: "build", Persona: "maintainer"}
	r.Eval.Prompts[0].Family, r.Eval.Prompts[0].Tags = "api", tags
	recs := records(r)
	for i, rec := range recs {
		if rec.Trial.PromptID == "p3" {
			recs[i].Trial.Family = "" // as in an old journal
		}
	}
	writeRun(t, root, r, recs)
	s := openStore(t, "")
	sync(t, s, root)
	type prompt struct {
		Family string
		Tags   eval.Tags
	}
	got := map[string]prompt{}
	for _, row := range allTrials(t, s, "r1") {
		got[row.PromptID] = prompt{row.Family, row.Tags}
		one, _, _, err := s.Trial(t.Context(), row.TrialID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "trial by id", one, row)
	}
	same(t, "prompts", got, map[string]prompt{"p1": {"api", tags}, "p2": {Family: "p2"}, "p3": {Family: "p3"}})
}

// TestFileWithoutFamilies opens a file of a program that knew no families.
func TestFileWithoutFamilies(t *testing.T) {
	old := fstest.MapFS{}
	for _, name := range []string{"0001_trials.sql", "0002_shard.sql", "0003_current.sql"} {
		data, err := os.ReadFile(filepath.Join("schema", name))
		if err != nil {
			t.Fatal(err)
		}
		old[name] = &fstest.MapFile{Data: data}
	}
	path := filepath.Join(t.TempDir(), "trials.duckdb")
	db, err := duck.Open(t.Context(), path, old)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `insert into trial values ('r1', 'abc', 'web', 'web-frameworks', 'p1', 'a', 'none', 1, 'none', '', '', false, '', 0, '', 0, 0, null, 0, timestamp '2026-01-01', 'null', '{}')`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	rows := allTrials(t, openStore(t, path), "r1")
	if len(rows) != 1 || rows[0].Family != "p1" || rows[0].Tags != (eval.Tags{}) {
		t.Errorf("got %+v", rows)
	}
}

// TestNamesAreCleaned loads journals of imports with names of any kind, also those that an
// earlier program has loaded.
func TestNamesAreCleaned(t *testing.T) {
	root, r := t.TempDir(), testRun("r1", "web", "web-frameworks", start)
	recs := records(r)[:4]
	for i, name := range []string{"x,flask", "a\x1b]0;pwn\u202e", strings.Repeat("Z", 5<<20), "\u200b"} {
		recs[i].Result = &pick.Result{Kind: pick.Other, Picked: name, Shortlist: []string{name}, Method: pick.MethodGiven}
	}
	writeRun(t, root, r, recs)
	path := filepath.Join(t.TempDir(), "trials.duckdb")
	s := openStore(t, path)
	sync(t, s, root)
	var got [][]string
	for _, row := range allTrials(t, s, "r1") {
		same(t, "pick", row.Picked, strings.Join(row.Shortlist, ","))
		got = append(got, row.Shortlist)
	}
	same(t, "shortlists", got, [][]string{{"x flask"}, {"a]0;pwn"}, {strings.Repeat("Z", 1000)}, nil})
	for _, c := range cells(t, s, "web-frameworks") {
		if slices.ContainsFunc(c.Tools, func(tool analytics.ToolCount) bool { return tool.Slug == "flask" }) {
			t.Errorf("a name with a comma counts as flask: %+v", c)
		}
	}

	// As an earlier program left it.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"delete from migration where name = '0008_clean_names.sql'", "update trial set picked = 'x,flask', shortlist = 'x,flask' where picked = 'x flask'"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, path)
	same(t, "loaded again", sync(t, s, root), trialstore.Loaded{Runs: 1, Trials: 4})
	same(t, "shortlist", allTrials(t, s, "r1")[0].Shortlist, got[0])
}

func TestExtractionReplacesTheResult(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	recs := records(r)
	writeRun(t, root, r, recs)
	s := openStore(t, filepath.Join(t.TempDir(), "trials.duckdb"))
	sync(t, s, root)
	var again []journal.Record
	for _, rec := range recs[:5] {
		for _, slug := range []string{"bottle", "tornado"} {
			again = append(again, journal.Record{Kind: journal.KindExtraction, Trial: rec.Trial, At: start, Result: &pick.Result{Kind: pick.Tool, Picked: slug, Shortlist: []string{slug}}})
		}
	}
	addTo(t, root, "r1", again)
	same(t, "loaded", sync(t, s, root), trialstore.Loaded{Runs: 1, Extractions: 5})
	got, err := s.Trials(t.Context(), trialstore.Filter{Picked: "tornado"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "trials with the last extraction", len(got), 5)
	row, answer, result, err := s.Trial(t.Context(), recs[1].Trial.ID[:12])
	if err != nil {
		t.Fatal(err)
	}
	same(t, "row", row.Picked, "tornado")
	same(t, "evidence", result.Shortlist, []string{"tornado"})
	same(t, "transcript", answer, *recs[1].Answer)

	fresh := openStore(t, "")
	sync(t, fresh, root)
	same(t, "rebuilt", allTrials(t, fresh, "r1"), allTrials(t, s, "r1"))
}

func TestCurrentIsTheLatestRunOfAnEval(t *testing.T) {
	root := t.TempDir()
	for i, id := range []string{"r1", "r2", "r3"} {
		name := "web"
		if id == "r3" {
			name = "other"
		}
		r := testRun(id, name, "web-frameworks", start.Add(time.Duration(i)*time.Hour))
		writeRun(t, root, r, records(r)[:10*(i+1)-2*i])
	}
	s := openStore(t, "")
	sync(t, s, root)
	_, totals, err := s.Cells(t.Context(), "web-frameworks", nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "totals", totals, trialstore.Totals{Planned: 60, Valid: 18 + 26})
	_, totals, err = s.Cells(t.Context(), "web-frameworks", []string{"r1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "totals of r1", totals, trialstore.Totals{Planned: 30, Valid: 10})
	if _, _, err := s.Cells(t.Context(), "web-frameworks", []string{"nope"}); !errors.Is(err, trialstore.ErrNotFound) {
		t.Errorf("unknown run: error %v, want ErrNotFound", err)
	}
	models, err := s.Models(t.Context(), []string{"r1"})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "models", models, []trialstore.Model{{"web", "web-frameworks", "a", "m-2026"}, {"web", "web-frameworks", "b", "m-2026"}})
	if err := os.RemoveAll(filepath.Join(root, "r2")); err != nil {
		t.Fatal(err)
	}
	same(t, "forgotten", sync(t, s, root).Forgotten, 1)
	same(t, "rows of the forgotten run", len(allTrials(t, s, "r2")), 0)
}

func TestTrialByTheBeginningOfItsID(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	recs := records(r)
	recs[0].Trial.ID = "aaaa1"
	recs[1].Trial.ID = "aaaa2"
	writeRun(t, root, r, recs)
	s := openStore(t, "")
	sync(t, s, root)
	for name, tc := range map[string]struct {
		prefix string
		want   error
	}{
		"unique beginning":      {"aaaa1", nil},
		"two trials start so":   {"aaaa", trialstore.ErrAmbiguous},
		"no trial starts so":    {"zzzz", trialstore.ErrNotFound},
		"an empty id":           {"", trialstore.ErrNotFound},
		"a wildcard is literal": {"%", trialstore.ErrNotFound},
	} {
		if _, _, _, err := s.Trial(t.Context(), tc.prefix); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", name, err, tc.want)
		}
	}
}

func TestRebuildEqualsSyncAndReplacesADamagedFile(t *testing.T) {
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "trials.duckdb")
	r := testRun("r1", "web", "web-frameworks", start)
	writeRun(t, root, r, records(r))
	s := openStore(t, path)
	sync(t, s, root)
	want := allTrials(t, s, "r1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage := map[string]func() error{
		"not damaged": func() error { return nil },
		"overwritten": func() error { return os.WriteFile(path, []byte(strings.Repeat("junk ", 4000)), 0o600) },
		"empty log":   func() error { return os.WriteFile(path+".wal", []byte("junk"), 0o600) },
		"cut short":   func() error { return os.Truncate(path, 20_000) },
	}
	for _, name := range []string{"not damaged", "overwritten", "cut short", "empty log"} {
		if err := damage[name](); err != nil {
			t.Fatal(err)
		}
		old, err := trialstore.Open(t.Context(), path)
		var damaged *trialstore.DamagedError
		if name != "not damaged" && name != "empty log" && (!errors.As(err, &damaged) || !strings.Contains(err.Error(), "firstpick runs rebuild")) {
			t.Errorf("%s: error %v, want a DamagedError that names the command", name, err)
		}
		if old != nil {
			_ = old.Close()
		}
		if _, err := trialstore.Rebuild(t.Context(), path, root); err != nil {
			t.Fatalf("%s: rebuild: %v", name, err)
		}
		s := openStore(t, path)
		same(t, name, allTrials(t, s, "r1"), want)
		same(t, name+": sync after", sync(t, s, root), trialstore.Loaded{})
		_ = s.Close()
	}
}

func TestLockedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.duckdb")
	exe, err := os.Executable()
	if err != nil {
		t.Skip("the test binary does not know its own path")
	}
	other := exec.CommandContext(t.Context(), exe)
	other.Env = append(os.Environ(), holdEnv+"="+path)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Skip("this platform does not start processes")
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process said %q", line)
	}
	want := "another firstpick process (PID " + strconv.Itoa(other.Process.Pid) + ") has " + path + " open; try again when it ends"
	_, err = trialstore.Open(t.Context(), path)
	var locked *trialstore.LockedError
	if !errors.As(err, &locked) || err.Error() != want {
		t.Errorf("open: error %v, want %q", err, want)
	}
	if _, err := trialstore.Rebuild(t.Context(), path, t.TempDir()); !errors.As(err, &locked) {
		t.Errorf("rebuild: error %v, want a LockedError", err)
	}
	_ = in.Close()
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
}

func TestParquetGivesTheSameCells(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	for i, category := range []string{"web-frameworks", "orm"} {
		r := testRun("r"+strconv.Itoa(i), "e"+strconv.Itoa(i), category, start)
		writeRun(t, root, r, records(r))
	}
	s := openStore(t, "")
	sync(t, s, root)
	path := filepath.Join(dir, "it's.parquet")
	if err := s.WriteParquet(t.Context(), path, nil, nil); err != nil {
		t.Fatal(err)
	}
	back, err := trialstore.OpenParquet(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Close() })
	want, err := s.Counts(t.Context(), nil)
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	got, err := back.Counts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		want[i].Planned = 0 // the manifest has it
	}
	same(t, "counts", got, want)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "answer ") {
		t.Error("the file holds a transcript")
	}
}

func micro(at time.Time) time.Time { return at.Truncate(time.Microsecond) }
