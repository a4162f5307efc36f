package trafficdb_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

// A crowd is touches of one kind, spread over days before the end.
type crowd struct {
	n              int
	from, to       int // days before the end
	record         event.Record
	lateOrBackfill bool
}

// week is the window of the changes.
func week() trafficdb.Window { return trafficdb.Window{From: end().AddDate(0, 0, -7), To: end()} }

func crowds(t *testing.T, list []crowd) *trafficdb.DB {
	t.Helper()
	return load(t, crowdRows(list))
}

func crowdRows(list []crowd) []trafficdb.Row {
	var rows []trafficdb.Row
	for _, c := range list {
		length := time.Duration(c.from-c.to) * 24 * time.Hour
		for i := range c.n {
			r := trafficdb.Row{Seq: int64(len(rows) + 1), Workspace: "w", Record: c.record}
			r.Type, r.Backfill = event.Touch, c.lateOrBackfill
			r.At = end().AddDate(0, 0, -c.from).Add(length / time.Duration(c.n) * time.Duration(i))
			r.ReceivedAt = r.At
			rows = append(rows, r)
		}
	}
	return rows
}

func TestChanges(t *testing.T) {
	gpt := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/", Status: 200, Verdict: "verified_ip"}
	user := event.Record{Agent: "ChatGPT-User", Class: "user_fetch", Path: "/", Status: 200}
	kimi := event.Record{Agent: "Kimi-User", Class: "user_fetch", Path: "/", Status: 200}
	fake := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/", Status: 200, Verdict: "ip_mismatch"}
	curl := event.Record{Agent: "curl", Class: "http_library", Path: "/", Status: 200}
	gone := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/v2/x", Status: 404, Verdict: "verified_ip"}
	for name, c := range map[string]struct {
		crowds []crowd
		want   []string
	}{
		"nothing at all":                      {nil, nil},
		"as always":                           {[]crowd{{n: 350, from: 35, to: 0, record: gpt}}, nil},
		"a new agent":                         {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 1, from: 3, to: 0, record: kimi}}, []string{"new_agent Kimi-User"}},
		"new, but only as noise":              {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 500, from: 3, to: 0, record: curl}}, nil},
		"new on the third day":                {[]crowd{{n: 350, from: 6, to: 0, record: gpt}, {n: 5, from: 3, to: 0, record: kimi}}, []string{"new_agent Kimi-User"}},
		"a folder misses few pages":           {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 29, from: 2, to: 0, record: gone}}, nil},
		"a first week":                        {[]crowd{{n: 350, from: 6, to: 0, record: gpt}}, nil},
		"known from long ago":                 {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 1, from: 300, to: 299, record: kimi}, {n: 5, from: 3, to: 0, record: kimi}}, nil},
		"known from old logs":                 {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 9, from: 30, to: 20, record: kimi, lateOrBackfill: true}, {n: 5, from: 3, to: 0, record: kimi}}, nil},
		"old logs of this week":               {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 900, from: 6, to: 0, record: kimi, lateOrBackfill: true}}, nil},
		"a spike":                             {[]crowd{{n: 280, from: 35, to: 7, record: gpt}, {n: 210, from: 7, to: 0, record: gpt}}, []string{"spike GPTBot"}},
		"almost a spike":                      {[]crowd{{n: 280, from: 35, to: 7, record: gpt}, {n: 209, from: 7, to: 0, record: gpt}}, nil},
		"a spike of few":                      {[]crowd{{n: 12, from: 35, to: 7, record: gpt}, {n: 49, from: 7, to: 0, record: gpt}}, nil},
		"spoofed visits":                      {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 2401, from: 2, to: 0, record: fake}}, []string{"spoof_burst GPTBot"}},
		"few spoofed visits":                  {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 2300, from: 2, to: 0, record: fake}}, nil},
		"spoofed as always":                   {[]crowd{{n: 16_800, from: 14, to: 0, record: fake}}, nil},
		"people ask less":                     {[]crowd{{n: 400, from: 35, to: 7, record: user}, {n: 50, from: 7, to: 0, record: user}, {n: 300, from: 7, to: 0, record: curl}}, []string{"user_fetch_drop ChatGPT-User"}},
		"people ask a little less":            {[]crowd{{n: 400, from: 35, to: 7, record: user}, {n: 51, from: 7, to: 0, record: user}}, nil},
		"nobody asks":                         {[]crowd{{n: 400, from: 35, to: 7, record: user}, {n: 300, from: 7, to: 0, record: curl}}, []string{"user_fetch_drop ChatGPT-User"}},
		"a folder is missing":                 {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 30, from: 2, to: 0, record: gone}}, []string{"new_not_found_cluster /v2/x"}},
		"a folder has long been":              {[]crowd{{n: 350, from: 35, to: 0, record: gpt}, {n: 13, from: 30, to: 9, record: gone}, {n: 30, from: 2, to: 0, record: gone}}, nil},
		"silence":                             {[]crowd{{n: 700, from: 35, to: 1, record: gpt}}, []string{"silence "}},
		"a quiet site":                        {[]crowd{{n: 7, from: 35, to: 1, record: gpt}}, nil},
		"silence but for logs that came late": {[]crowd{{n: 700, from: 35, to: 1, record: gpt}, {n: 50, from: 1, to: 0, record: gpt, lateOrBackfill: true}}, []string{"silence "}},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := crowds(t, c.crowds).Changes(t.Context(), "w", week(), week().To)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range changes {
				got = append(got, x.What+" "+x.Agent+x.Folder)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestChangesOfOtherWindows: what lies ahead is no silence, and an agent of the last three
// days is new in a short window, since its first visit.
func TestChangesOfOtherWindows(t *testing.T) {
	gpt := event.Record{Agent: "GPTBot", Class: "training_crawler", Path: "/", Status: 200, Verdict: "verified_ip"}
	kimi := event.Record{Agent: "Kimi-User", Class: "user_fetch", Path: "/", Status: 200}
	db := crowds(t, []crowd{{n: 700, from: 35, to: 0, record: gpt}, {n: 40, from: 2, to: 1, record: kimi}, {n: 20, from: 1, to: 0, record: kimi}})
	for name, w := range map[string]trafficdb.Window{
		"three days ahead": {From: week().From, To: week().To.AddDate(0, 0, 3)},
		"the last day":     {From: week().To.AddDate(0, 0, -1), To: week().To},
	} {
		changes, err := db.Changes(t.Context(), "w", w, week().To)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.What == "silence" || c.What == "new_agent" && end().Sub(c.Since) < 24*time.Hour {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	db := crowds(t, []crowd{{n: 100, from: 10, to: 0, record: event.Record{Class: "browser"}}})
	h, err := db.Health(t.Context(), "w", end())
	if err != nil || h.Last24h != 9 || !h.LastAt.Equal(end().Add(-144*time.Minute)) || !h.CompleteThrough.Equal(h.LastReceivedAt) {
		t.Errorf("%+v, %v", h, err)
	}
	h, err = db.Health(t.Context(), "nobody", end())
	if err != nil || !h.LastAt.IsZero() || h.Last24h != 0 || h.CompleteThrough.IsZero() {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestTraceOfNothing(t *testing.T) {
	db := open(t, "")
	for _, id := range []string{"", "x"} {
		if _, err := db.Trace(t.Context(), "w", id, 0); !errors.Is(err, trafficdb.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
