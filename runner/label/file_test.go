package label_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func sample(trials int) label.Sample {
	s := label.Sample{Run: "r1", Seed: 1, Size: trials, Frame: 100}
	for i := range trials {
		s.Trials = append(s.Trials, label.Drawn{Trial: fmt.Sprint("t", i), P: .5, Stratum: "s"})
	}
	return s
}

func begun(t *testing.T, trials int) label.File {
	t.Helper()
	f := label.File{Path: filepath.Join(t.TempDir(), label.FileName), Run: "r1"}
	if _, err := f.Begin(func() (label.Sample, error) { return sample(trials), nil }); err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, f label.File) *label.Set {
	t.Helper()
	set, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func of(trial, by string, kind pick.Kind, picked string) label.Label {
	return label.Label{Run: "r1", Trial: trial, P: .5, By: by, At: now(), Outcome: kind, Picked: picked}
}

func TestARunWithoutLabels(t *testing.T) {
	f := label.File{Path: filepath.Join(t.TempDir(), "none", label.FileName), Run: "r1"}
	if set, err := f.Read(); set != nil || err != nil {
		t.Errorf("%v, %v", set, err)
	}
	if err := f.Add(of("t0", "ann", pick.None, "")); err == nil {
		t.Error("a label without a sample is stored")
	}
}

// TestAnInterruptedWriteIsDropped cuts the file at every byte of its last line.
func TestAnInterruptedWriteIsDropped(t *testing.T) {
	f := begun(t, 3)
	if err := f.Add(of("t0", "ann", pick.None, "")); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(of("t1", "ann", pick.DIY, "")); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(kept); cut < len(whole); cut++ {
		if err := os.WriteFile(f.Path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if n := len(read(t, f).Labels); n != 1 {
			t.Fatalf("cut at %d: %d labels", cut, n)
		}
		if err := f.Add(of("t2", "ann", pick.Tool, "stripe")); err != nil {
			t.Fatal(err)
		}
		if set := read(t, f); len(set.Labels) != 2 || set.Labels[1].Trial != "t2" {
			t.Fatalf("cut at %d: %+v", cut, set.Labels)
		}
	}
}

func TestManyProcessesLabelAtOnce(t *testing.T) {
	f := label.File{Path: filepath.Join(t.TempDir(), label.FileName), Run: "r1"}
	const people, trials = 4, 25
	var mu sync.Mutex
	draws := 0
	var wg sync.WaitGroup
	for p := range people {
		wg.Go(func() {
			set, err := f.Begin(func() (label.Sample, error) {
				mu.Lock()
				defer mu.Unlock()
				draws++
				s := sample(trials)
				s.Seed = uint64(p)
				return s, nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			s, err := label.NewSession(f, set, fmt.Sprint("p", p), false, now)
			if err != nil {
				t.Error(err)
				return
			}
			for range trials {
				if err := s.Put(label.Label{Outcome: pick.Tool, Picked: strings.Repeat("x", 3000)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if set := read(t, f); draws != 1 || len(set.Labels) != people*trials || len(set.Labellers()) != people {
		t.Errorf("%d draws, %d labels of %v", draws, len(set.Labels), set.Labellers())
	}
}

func TestMalformedLabelFilesNameTheLine(t *testing.T) {
	s := `{"sample":{"run":"r1","seed":1,"size":1,"at":"2026-01-02T03:04:05Z","frame":9,"trials":[{"trial":"t0","p":0.5,"stratum":"s"}]}}` + "\n"
	l := func(fields string) string {
		return s + "\n" + `{"label":{"run":"r1","trial":"t0","p":0.5,"by":"ann","at":"2026-01-02T03:04:05Z",` + fields + "}}\n"
	}
	for name, tt := range map[string]struct{ text, want string }{
		"not JSON":                      {s + "hello\n", "line 2: not a line of a label file"},
		"an unknown field":              {l(`"outcome":"none","sure":true`), `line 3: not a line of a label file: json: unknown field "sure"`},
		"an unknown outcome":            {l(`"outcome":"perhaps"`), `line 3: unknown outcome "perhaps"`},
		"a tool without a pick":         {l(`"outcome":"tool"`), `line 3: outcome tool needs "picked"`},
		"a pick without a tool":         {l(`"outcome":"none","picked":"x"`), "line 3: outcome none has no pick"},
		"two things in a line":          {s + `{"label":{},"sample":{}}` + "\n", "line 2: not a line of a label file: want one of"},
		"nothing in a line":             {s + "{}\n", "line 2: not a line of a label file: want one of"},
		"text after a line":             {s + strings.TrimSpace(s) + "{}\n", "line 2: not a line of a label file: text after"},
		"a second sample":               {s + s, "line 2: a second sample of run r1"},
		"a label before the sample":     {strings.TrimPrefix(l(`"outcome":"none"`), s), "line 2: a label of run r1 before its sample"},
		"a trial that is not there":     {strings.ReplaceAll(l(`"outcome":"none"`), `"label":{"run":"r1","trial":"t0"`, `"label":{"run":"r1","trial":"t9"`), "line 3: trial t9 is not in the sample of run r1"},
		"a withdrawal of another trial": {s + `{"withdrawn":{"run":"r1","trial":"t9","by":"ann","at":"2026-01-02T03:04:05Z"}}` + "\n", "line 2: trial t9 is not in the sample"},
		"a probability of 0":            {strings.ReplaceAll(s, `"p":0.5`, `"p":0`), "line 1: a sample with trial"},
		"a label with probability 2":    {strings.ReplaceAll(l(`"outcome":"none"`), `"t0","p":0.5,"by"`, `"t0","p":2,"by"`), "line 3: p must be above 0"},
		"an empty sample":               {`{"sample":{"run":"r1"}}` + "\n", "line 1: a sample without"},
		"two bad lines":                 {s + "a\nb\n", "line 3:"},
	} {
		_, err := label.Parse(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	f := begun(t, 1)
	f.Run = "r2"
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "has labels of run r1") {
		t.Errorf("labels of another run: %v", err)
	}
}

func TestSettle(t *testing.T) {
	stripe, none := func(by string) label.Label { return of("t0", by, pick.Tool, "stripe") }, func(by string) label.Label { return of("t0", by, pick.None, "") }
	decided := none("cat")
	decided.Adjudicates = true
	other := func(name, by string) label.Label { return of("t0", by, pick.Other, name) }
	for name, tt := range map[string]struct {
		labels   []label.Label
		want     string
		disputed bool
	}{
		"one labeller":                      {[]label.Label{stripe("ann")}, "tool:stripe", false},
		"two who agree":                     {[]label.Label{stripe("ann"), stripe("bob")}, "tool:stripe", false},
		"two who differ":                    {[]label.Label{stripe("ann"), none("bob")}, "tool:stripe", true},
		"most":                              {[]label.Label{stripe("ann"), none("bob"), none("eve")}, "none", true},
		"adjudicated":                       {[]label.Label{stripe("ann"), stripe("bob"), decided}, "none", false},
		"a later label of the same one":     {[]label.Label{stripe("ann"), none("ann")}, "none", false},
		"other choices by different names":  {[]label.Label{other("adyen", "ann"), other("adyen.com", "bob")}, "other", false},
		"the same outcome, different tools": {[]label.Label{stripe("ann"), of("t0", "bob", pick.Tool, "paddle")}, "tool:stripe", true},
	} {
		f := begun(t, 2)
		if err := f.Add(tt.labels...); err != nil {
			t.Fatal(err)
		}
		got := read(t, f).Settle()
		if len(got) != 1 || got[0].Text() != tt.want || got[0].Disputed != tt.disputed {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAdjudication(t *testing.T) {
	f := begun(t, 3)
	add := func(labels ...label.Label) {
		if err := f.Add(labels...); err != nil {
			t.Fatal(err)
		}
	}
	add(of("t0", "ann", pick.None, ""), of("t0", "bob", pick.None, ""), of("t1", "ann", pick.None, ""), of("t1", "bob", pick.DIY, ""), of("t2", "ann", pick.DIY, ""))
	if _, err := label.NewSession(f, read(t, f), "ann", true, now); err == nil {
		t.Error("a labeller adjudicates")
	}
	s, err := label.NewSession(f, read(t, f), "cat", true, now)
	if err != nil {
		t.Fatal(err)
	}
	trial, ok := s.Next()
	if done, total := s.Progress(); trial != "t1" || !ok || done != 0 || total != 1 || !slices.Equal(s.Differing("t1"), []string{"diy", "none"}) {
		t.Fatalf("%s, %d of %d, %v", trial, done, total, s.Differing("t1"))
	}
	if err := s.Put(label.Label{Outcome: pick.DIY}); err != nil {
		t.Fatal(err)
	}
	set := read(t, f)
	if got := set.Settle()[1]; got.Text() != "diy" || got.Disputed {
		t.Errorf("%+v", got)
	}
	if _, err := label.NewSession(f, set, "cat", false, now); err == nil {
		t.Error("who adjudicated labels")
	}
	again, err := label.NewSession(f, set, "cat", true, now)
	if err != nil {
		t.Fatal(err)
	}
	if done, total := again.Progress(); done != 1 || total != 1 {
		t.Errorf("%d of %d", done, total)
	}
	if pairs, trials := set.Pairs("ann", "bob"); len(pairs) != 2 || !slices.Equal(trials, []string{"t0", "t1"}) || pairs[1] != [2]string{"none", "diy"} {
		t.Errorf("%v %v", pairs, trials)
	}
}

func TestSheets(t *testing.T) {
	f := begun(t, 4)
	set, tools := read(t, f), []string{"paddle", "stripe"}
	good := `{"trial":"t0","outcome":"tool","picked":"stripe","shortlist":["stripe","paddle"],"quote":"q"}
{"trial":"t1","category":"c","tools":["x"],"outcomes":["none"],"prompt":"p","input":{"final_text":"x"},"outcome":"","picked":"","shortlist":null,"rejected":null,"quote":""}

{"trial":"t2","outcome":"other","picked":"adyen"}`
	labels, empty, err := label.ReadSheet(strings.NewReader(good), set, tools, "ann")
	if err != nil || empty != 1 || len(labels) != 2 || labels[0].By != "ann" || labels[0].P != .5 || labels[0].Run != "r1" || !slices.Equal(labels[0].Shortlist, tools) {
		t.Errorf("%+v, %d, %v", labels, empty, err)
	}
	if err := f.Add(labels...); err == nil {
		got := read(t, f).Settle()[0].Case("payments", transcript.Transcript{FinalText: "x"})
		if got.ID != "t0" || *got.Gold.Picked != "stripe" || !slices.Equal(got.Gold.Shortlist, tools) || got.Labels[0] != (pick.Label{By: "ann", Picked: "tool:stripe"}) {
			t.Errorf("%+v", got)
		}
	} else {
		t.Error(err)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"a trial outside the sample": {`{"trial":"t9","outcome":"none"}`, `line 1: trial "t9" is not in the sample of run r1`},
		"an unknown tool":            {"\n" + `{"trial":"t0","outcome":"tool","picked":"strip"}`, `line 2: unknown tool "strip"`},
		"an unknown outcome":         {`{"trial":"t0","outcome":"yes"}`, `line 1: unknown outcome "yes"`},
		"an unknown rejected tool":   {`{"trial":"t0","outcome":"none","rejected":["x"]}`, `line 1: unknown tool "x"`},
		"a trial twice":              {`{"trial":"t0","outcome":"none"}` + "\n" + `{"trial":"t0","outcome":"diy"}`, "line 2: trial t0 again, first on line 1"},
		"an unknown field":           {`{"trial":"t0","result":"none"}`, "line 1: not a row of a blind sheet"},
		"not JSON":                   {"x", "line 1: not a row"},
	} {
		labels, _, err := label.ReadSheet(strings.NewReader(tt.text), set, tools, "ann")
		if err == nil || !strings.Contains(err.Error(), tt.want) || labels != nil {
			t.Errorf("%s: %v, %v", name, labels, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"sample":{"run":"r1","trials":[{"trial":"t0","p":0.5}]}}` + "\n" + `{"label":{"run":"r1","trial":"t0","p":0.5,"by":"a","outcome":"none"}}` + "\n")
	f.Add(`{"withdrawn":{"run":"r1","trial":"t0","by":"a"}}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		sets, err := label.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for run, set := range sets {
			for _, s := range set.Settle() {
				if s.Run != run || s.P <= 0 || s.P > 1 || !slices.Contains(pick.Kinds(), s.Outcome) {
					t.Errorf("%+v", s)
				}
			}
		}
	})
}

func FuzzReadSheet(f *testing.F) {
	f.Add(`{"trial":"t0","outcome":"tool","picked":"stripe"}`)
	set := &label.Set{Sample: sample(3)}
	f.Fuzz(func(t *testing.T, text string) {
		labels, _, err := label.ReadSheet(strings.NewReader(text), set, []string{"stripe"}, "ann")
		if err != nil && labels != nil {
			t.Error("labels with an error")
		}
		for _, l := range labels {
			if l.Outcome == pick.Tool && l.Picked != "stripe" || l.P != .5 {
				t.Errorf("%+v", l)
			}
		}
	})
}
