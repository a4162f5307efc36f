package main

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// shortEval takes some 20 ms and no money.
const shortEval = `name: own
category: webserver
repeats: 4
concurrency: 4
prompts:
  - {id: webserver, text: Write an API server.}
agents:
  - {name: sim, kind: simulated, truth: {flask: 2, diy: 1}, latency_ms: 10}
  - {name: gpt-4o-mini-2024-07-18, kind: recorded, study: twist-2025}
`

// TestQueuedRunsAreSharedFairly queues the runs of three workspaces, the most of one
// that came first and the fewest of one that came last, and lets two workers at them.
// Fairness is about turns while several wait: until the smallest is through each must
// have had as much, and until the second is through it and the largest.
func TestQueuedRunsAreSharedFairly(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of evals: a minute")
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			// The six that are under way are a large part of so few, and no turn halves them.
			sizes, under := map[string]int{"wsp_large": 72, "wsp_middle": 42, "wsp_small": 24}, 6.0
			h := newHouse(t, engine)
			names := []string{"wsp_large", "wsp_middle", "wsp_small"}
			queued := map[string][]string{}
			for _, name := range names {
				h.workspace(name, shortEval, "sk-not-needed")
				queued[name] = h.queue(name, sizes[name], 1)
			}
			began := time.Now()
			h.start("worker", "--runs", "3")
			h.start("worker", "--runs", "3")
			all := 0
			for _, name := range names {
				all += sizes[name]
			}
			for left := all; left > 0; {
				if time.Since(began) > 5*time.Minute {
					t.Fatalf("%d runs have not ended in five minutes", left)
				}
				time.Sleep(50 * time.Millisecond)
				s, err := h.db.Read().QueueStats(t.Context(), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				left = s.Queued + s.Running + s.Abandoned
			}
			took := time.Since(began)
			ended := map[string][]time.Time{}
			for _, name := range names {
				for _, id := range queued[name] {
					r := h.run(name, id)
					if r.Status != state.RunDone || r.Valid != 8 || r.Bundle == "" || r.Attempt-r.GivenBack != 1 || h.endings(id) != 1 {
						t.Fatalf("%+v, ended %d times", r, h.endings(id))
					}
					ended[name] = append(ended[name], r.EndedAt)
				}
				slices.SortFunc(ended[name], time.Time.Compare)
			}
			through := func(name string) time.Time { return ended[name][len(ended[name])-1] }
			until := func(name string, at time.Time) int {
				n, _ := slices.BinarySearchFunc(ended[name], at, func(e, at time.Time) int { return cmp.Or(e.Compare(at), -1) })
				return n
			}
			for _, c := range []struct {
				first string
				among []string
			}{{"wsp_small", names}, {"wsp_middle", names[:2]}} {
				for _, name := range c.among {
					got, want := until(name, through(c.first)), until(c.among[0], through(c.first))
					for _, other := range c.among {
						want = min(want, until(other, through(c.first)))
					}
					if float64(got-want) > 0.1*float64(want)+under {
						t.Errorf("when %s was through, %s had %d runs done and another %d", c.first, name, got, want)
					}
				}
			}
			t.Logf("%d runs in %s; when the smallest was through: large %d, middle %d, small %d", all, took.Round(time.Millisecond),
				until("wsp_large", through("wsp_small")), until("wsp_middle", through("wsp_small")), until("wsp_small", through("wsp_small")))
		})
	}
}
