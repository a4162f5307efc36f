package trialstore_test

import (
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/journal"
)

func TestCurrentIsTheLatestCompleteRun(t *testing.T) {
	type one struct {
		id       string
		eval     string
		valid    int // of 20 planned
		underWay bool
		shard    *journal.Shard
	}
	tests := map[string]struct {
		runs    []one // oldest first
		current []string
		latest  []string
	}{
		"the latest of two complete runs counts":                  {[]one{{id: "a", valid: 20}, {id: "b", valid: 20}}, []string{"b"}, []string{"b"}},
		"an interrupted run does not replace a complete one":      {[]one{{id: "a", valid: 20}, {id: "b", valid: 1}}, []string{"a"}, []string{"b"}},
		"one trial below 95 % is incomplete":                      {[]one{{id: "a", valid: 20}, {id: "b", valid: 18}}, []string{"a"}, []string{"b"}},
		"95 % is complete":                                        {[]one{{id: "a", valid: 20}, {id: "b", valid: 19}}, []string{"b"}, []string{"b"}},
		"a run under way is incomplete, however far it is":        {[]one{{id: "a", valid: 19}, {id: "b", valid: 20, underWay: true}}, []string{"a"}, []string{"b"}},
		"without a complete run the latest with an answer counts": {[]one{{id: "a", valid: 9}, {id: "b", valid: 3}, {id: "c"}}, []string{"b"}, []string{"c"}},
		"a run without an answer is the latest, not current":      {[]one{{id: "a", valid: 20}, {id: "b"}}, []string{"a"}, []string{"b"}},
		"a shard never counts":                                    {[]one{{id: "a", valid: 19}, {id: "b", valid: 20, shard: &journal.Shard{Index: 1, Of: 2}}}, []string{"a"}, []string{"a"}},
		"each eval has its own":                                   {[]one{{id: "a", valid: 20}, {id: "b", eval: "other", valid: 2}}, []string{"a", "b"}, []string{"a", "b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root, s := t.TempDir(), openStore(t, "")
			var underWay []string
			for i, o := range tt.runs {
				if o.eval == "" {
					o.eval = "web"
				}
				r := testRun(o.id, o.eval, "web-frameworks", start.Add(time.Duration(i)*time.Hour))
				r.Planned, r.Shard = 20, o.shard
				writeRun(t, root, r, records(r)[:o.valid])
				if o.underWay {
					underWay = append(underWay, o.id)
				}
			}
			sync(t, s, root)
			s.SetUnderWay(underWay)
			rows, err := s.Runs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var current, latest []string
			for _, r := range rows {
				if r.Current {
					current = append(current, r.ID)
				}
				if r.Latest {
					latest = append(latest, r.ID)
				}
			}
			same(t, "current", current, tt.current)
			same(t, "latest", latest, tt.latest)
			var read []string // what every query reads where no run is named
			for _, row := range allTrials(t, s, "") {
				read = append(read, row.RunID)
			}
			slices.Sort(read)
			same(t, "runs of the trials", slices.Compact(read), tt.current)
			counted, total := cells(t, s, "web-frameworks"), 0
			for _, c := range counted {
				total += c.Trials
			}
			same(t, "trials counted", total, len(allTrials(t, s, "")))
		})
	}
}
