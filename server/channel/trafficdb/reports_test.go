package trafficdb_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

func open(t testing.TB, file string) *trafficdb.DB {
	t.Helper()
	db, err := trafficdb.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	db.SetRun(1000)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// load opens a database in a file with these rows, of which the last batches are
// not sorted.
func load(t testing.TB, rows []trafficdb.Row) *trafficdb.DB {
	t.Helper()
	db := open(t, filepath.Join(t.TempDir(), "traffic.duckdb"))
	for i := 0; len(rows) > 0; i++ {
		part := rows[:min(len(rows), 3000)]
		if rows = rows[len(part):]; i%3 == 2 {
			if err := db.Sort(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Append(t.Context(), part, part[len(part)-1].Seq); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	tz, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return tz
}

func end() time.Time { return time.Date(2026, 11, 20, 7, 13, 0, 0, time.UTC) }

// of returns the rows of a workspace.
func of(rows []trafficdb.Row, workspace string) []trafficdb.Row {
	var out []trafficdb.Row
	for _, r := range rows {
		if r.Workspace == workspace {
			out = append(out, r)
		}
	}
	return out
}

// equal compares a report with its recount. Times are compared as instants.
func equal[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d lines, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if !reflect.DeepEqual(normal(got[i]), normal(want[i])) {
			t.Errorf("%s, line %d:\n got %+v\nwant %+v", what, i, got[i], want[i])
			return
		}
	}
}

// normal returns v with its times in UTC and its empty lists nil.
func normal[T any](v T) T {
	r := reflect.ValueOf(&v).Elem()
	for i := range r.NumField() {
		if at, ok := r.Field(i).Interface().(time.Time); ok {
			r.Field(i).Set(reflect.ValueOf(at.UTC()))
		}
	}
	return v
}

// windows are those over which reports are recounted.
func windows(t *testing.T) map[string]trafficdb.Window {
	return map[string]trafficdb.Window{
		"thirty days":     {From: end().AddDate(0, 0, -30), To: end()},
		"all in Berlin":   {From: end().AddDate(0, 0, -95), To: end(), TZ: zone(t, "Europe/Berlin")},
		"a week in Nepal": {From: end().AddDate(0, 0, -20).Add(17 * time.Minute), To: end().AddDate(0, 0, -13), TZ: zone(t, "Asia/Kathmandu")},
		"an odd zone":     {From: end().AddDate(0, 0, -4), To: end(), TZ: time.FixedZone("odd", 3601)},
		"one agent":       {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Agent: "ChatGPT-User"}},
		"one page":        {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Page: "example.com/docs/part1/page1"}},
		"a folder":        {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Agent: "chatgpt-user", Page: "/docs/part1/*"}},
		"hours":           {From: end().AddDate(0, 0, -3), To: end().AddDate(0, 0, -2).Add(-90 * time.Minute), Hours: true},
		"one class":       {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Class: "training_crawler"}},
		"one assistant":   {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Assistant: "ChatGPT"}},
		"all filters":     {From: end().AddDate(0, 0, -30), To: end(), Filter: traffic.Filter{Agent: "ChatGPT-User", Page: "example.com/docs/part1/page1", Assistant: "ChatGPT"}},
		"nothing":         {From: end(), To: end()},
		"the future":      {From: end().AddDate(1, 0, 0), To: end().AddDate(1, 0, 2)},
	}
}

// TestReportsAgreeWithARecount counts everything again, slowly.
func TestReportsAgreeWithARecount(t *testing.T) {
	all := trafficdb.Page{Limit: trafficdb.MaxRows}
	for _, seed := range []uint64{1, 2, 3} {
		rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: seed, Events: 12_000, Workspaces: 4, Days: 90, End: end()}))
		db := load(t, rows)
		for name, w := range windows(t) {
			for n := range 5 { // the last workspace is empty
				ws := traffictest.Workspace(n)
				what := fmt.Sprintf("%s of %s, seed %d", name, ws, seed)
				l := ledger{of(rows, ws), w}
				agents, err := db.Agents(t.Context(), ws, w, all)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "agents "+what, agents, l.agents())
				pages, err := db.Pages(t.Context(), ws, w, all)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "pages "+what, pages, l.pages())
				gaps, err := db.Gaps(t.Context(), ws, w, all)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "gaps "+what, gaps, l.gaps())
				referrals, err := db.Referrals(t.Context(), ws, w, all)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "referrals "+what, referrals, l.referrals())
				landings, err := db.Landings(t.Context(), ws, w, all)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "landings "+what, landings, l.landings())
				trend, err := db.Trend(t.Context(), ws, w)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "trend "+what, trend, l.trend())
				noise, err := db.Noise(t.Context(), ws, w)
				if err != nil {
					t.Fatal(err)
				}
				counted := map[string]int64{}
				for _, x := range noise {
					counted[x.Class] = x.Touches
				}
				if want := l.noise(); !reflect.DeepEqual(counted, want) {
					t.Errorf("noise %s: %v, want %v", what, counted, want)
				}
			}
		}
	}
}

// TestJourneysAreAllThatCreditNeeds credits what Journeys gives, and again
// everything there is; the results are the same.
func TestJourneysAreAllThatCreditNeeds(t *testing.T) {
	possible, credited := 0, 0
	for _, seed := range []uint64{4, 5, 6} {
		rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: seed, Events: 12_000, Workspaces: 4, Days: 120, End: end()}))
		db := load(t, rows)
		for _, c := range []struct{ days, lookback int }{{30, 90}, {7, 7}, {60, 30}} {
			for _, model := range []attribution.Model{attribution.First, attribution.Linear} {
				ws := traffictest.Workspace(int(seed) % 3)
				w := trafficdb.Window{From: end().AddDate(0, 0, -c.days), To: end().AddDate(0, 0, -2)}
				lookback := time.Duration(c.lookback) * 24 * time.Hour
				o := attribution.Options{Model: model, Lookback: lookback, From: w.From, To: w.To}
				j, err := db.Journeys(t.Context(), ws, w, lookback)
				if err != nil {
					t.Fatal(err)
				}
				conversions, touches, bindings := ledger{of(rows, ws), w}.story()
				got := attribution.Credit(j.Conversions, j.Touches, attribution.NewGraph(j.Bindings), o)
				want := attribution.Credit(conversions, touches, attribution.NewGraph(bindings), o)
				credited += len(got)
				if len(got) != len(want) {
					t.Fatalf("%d credited, want %d", len(got), len(want))
				}
				for i := range got {
					if a, b := shown(&got[i]), shown(&want[i]); a != b {
						t.Errorf("seed %d, %+v:\n got %s\nwant %s", seed, c, a, b)
						break
					}
					if got[i].Possible != nil {
						possible++
					}
				}
				if len(j.Touches) >= len(touches) {
					t.Errorf("%d touches of %d", len(j.Touches), len(touches))
				}
				if len(want) == 0 {
					continue
				}
				one, err := db.Trace(t.Context(), ws, want[len(want)/2].ID, lookback)
				if err != nil {
					t.Fatal(err)
				}
				traced := attribution.Credit(one.Conversions, one.Touches, attribution.NewGraph(one.Bindings), o)
				if len(traced) == 0 || shown(&traced[len(traced)-1]) == "" {
					t.Errorf("%d traced", len(traced))
				}
				for i := range traced {
					if traced[i].ID == want[len(want)/2].ID && shown(&traced[i]) != shown(&want[len(want)/2]) {
						t.Errorf("traced\n got %s\nwant %s", shown(&traced[i]), shown(&want[len(want)/2]))
					}
				}
			}
		}
	}
	if possible == 0 || credited == 0 {
		t.Errorf("%d credited, %d inferred: the test does not test that", credited, possible)
	}
}

// shown is what matters of a credited conversion.
func shown(c *attribution.Credited) string {
	s := fmt.Sprint(c.ID, c.Kind, c.Value, c.Shares, c.Evidence, c.Assisted, c.Applied, c.Problem, c.Order, c.Truncated)
	for _, t := range c.Touches {
		s += " " + t.ID
	}
	if c.Possible != nil {
		s += " possible " + c.Possible.Family + " " + c.Possible.Fetch.ID + " " + c.Possible.Landing.ID
	}
	return s
}

// TestDayEdges puts an event at the edges of days on which clocks change.
func TestDayEdges(t *testing.T) {
	for name, c := range map[string]struct {
		zone  string
		local []string // moments in UTC, and the day they belong to
	}{
		"spring forward in Berlin":    {"Europe/Berlin", []string{"2026-03-28T22:59:59Z 2026-03-28", "2026-03-28T23:00:00Z 2026-03-29", "2026-03-29T21:59:59Z 2026-03-29", "2026-03-29T22:00:00Z 2026-03-30"}},
		"back in Berlin":              {"Europe/Berlin", []string{"2026-10-24T21:59:59Z 2026-10-24", "2026-10-24T22:00:00Z 2026-10-25", "2026-10-25T22:59:59Z 2026-10-25", "2026-10-25T23:00:00Z 2026-10-26"}},
		"midnight skipped in Havana":  {"America/Havana", []string{"2025-03-09T04:59:59Z 2025-03-08", "2025-03-09T05:00:00Z 2025-03-09", "2025-03-10T03:59:59Z 2025-03-09", "2025-03-10T04:00:00Z 2025-03-10"}},
		"midnight twice in Havana":    {"America/Havana", []string{"2025-11-02T03:59:59Z 2025-11-01", "2025-11-02T04:00:00Z 2025-11-02", "2025-11-02T05:00:00Z 2025-11-02", "2025-11-03T05:00:00Z 2025-11-03"}},
		"midnight skipped in Beirut":  {"Asia/Beirut", []string{"2025-03-29T21:59:59Z 2025-03-29", "2025-03-29T22:00:00Z 2025-03-30", "2025-03-30T21:00:00Z 2025-03-31"}},
		"half an hour on Lord Howe":   {"Australia/Lord_Howe", []string{"2026-04-04T12:59:59Z 2026-04-04", "2026-04-04T13:00:00Z 2026-04-05", "2026-04-05T13:29:59Z 2026-04-05", "2026-04-05T13:30:00Z 2026-04-06"}},
		"fourteen hours ahead of UTC": {"Pacific/Kiritimati", []string{"2026-11-18T09:59:59Z 2026-11-18", "2026-11-18T10:00:00Z 2026-11-19"}},
	} {
		t.Run(name, func(t *testing.T) {
			tz := zone(t, c.zone)
			var rows []trafficdb.Row
			want := map[string]int64{}
			var first, last time.Time
			for i, line := range c.local {
				at, err := time.Parse(time.RFC3339, line[:20])
				if err != nil {
					t.Fatal(err)
				}
				if day := at.In(tz).Format(time.DateOnly); day != line[21:] {
					t.Fatalf("%s is on %s", line, day)
				}
				want[line[21:]]++
				if first.IsZero() {
					first = at
				}
				last = at
				// Late by four days: it counts in its day all the same.
				rows = append(rows, trafficdb.Row{Seq: int64(i + 1), Workspace: "w", Record: event.Record{Type: event.Touch, At: at, ReceivedAt: at.AddDate(0, 0, 4), Class: "user_fetch"}})
			}
			db := load(t, rows)
			days, err := db.Trend(t.Context(), "w", trafficdb.Window{From: first, To: last.Add(time.Second), TZ: tz})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]int64{}
			for _, d := range days {
				if n := d.ByClass["user_fetch"]; n > 0 {
					got[d.Day] = n
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestPaging walks a report in pages.
func TestPaging(t *testing.T) {
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 1, Events: 4000, Workspaces: 1, Days: 30, End: end()}))
	db := load(t, rows)
	w := trafficdb.Window{From: end().AddDate(0, 0, -40), To: end()}
	whole, err := db.Pages(t.Context(), "ws_00", w, trafficdb.Page{Limit: 5000})
	if err != nil || len(whole) < 150 {
		t.Fatal(len(whole), err)
	}
	var parts []trafficdb.PageRead
	for offset := 0; ; offset += 37 {
		part, err := db.Pages(t.Context(), "ws_00", w, trafficdb.Page{Limit: 37, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		parts = append(parts, part...)
	}
	equal(t, "parts", parts, whole)
	if usual, err := db.Pages(t.Context(), "ws_00", w, trafficdb.Page{Offset: -1}); err != nil || len(usual) != 100 {
		t.Error(len(usual), err)
	}
}
