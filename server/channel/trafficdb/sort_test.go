package trafficdb_test

import (
	"cmp"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/channel/trafficdb/traffictest"
)

// TestSortingChangesNoReport asks everything before and after, and counts that
// rows are sorted when there are enough of them.
func TestSortingChangesNoReport(t *testing.T) {
	rows := slices.Collect(traffictest.Rows(traffictest.Options{Seed: 31, Events: 9000, Workspaces: 3, Days: 60, End: end()}))
	db := open(t, filepath.Join(t.TempDir(), "traffic.duckdb"))
	db.SetRun(int64(len(rows)) + 1)
	steps(t, &trafficdb.Loader{Source: source(stored(rows)), DB: db, Log: quiet(), Batch: 800})
	loose := func(n string) {
		t.Helper()
		if err := db.Exec(t.Context(), "select case when count(*) <> "+n+" then error('other rows') end from traffic.event where not sorted"); err != nil {
			t.Error(err)
		}
	}
	loose("9000")
	w := trafficdb.Window{From: end().AddDate(0, 0, -30), To: end()}
	answers := func() map[string]any {
		out := map[string]any{}
		for n := range 3 {
			ws := traffictest.Workspace(n)
			for _, q := range questions() {
				answer, err := q.ask(t.Context(), to{db, ws, w})
				if err != nil {
					t.Fatal(err)
				}
				if j, ok := answer.(trafficdb.Journeys); ok { // in no order
					slices.SortFunc(j.Touches, func(a, b attribution.Touch) int { return strings.Compare(a.ID, b.ID) })
					slices.SortFunc(j.Bindings, func(a, b attribution.Binding) int {
						return cmp.Or(strings.Compare(a.Visitor, b.Visitor), strings.Compare(a.Identity, b.Identity))
					})
				}
				out[q.name+" of "+ws] = answer
			}
		}
		return out
	}
	before := answers()
	if err := db.Sort(t.Context()); err != nil {
		t.Fatal(err)
	}
	loose("0")
	if after := answers(); !reflect.DeepEqual(before, after) {
		for name := range before {
			if !reflect.DeepEqual(before[name], after[name]) {
				t.Errorf("%s:\nbefore %+v\nafter  %+v", name, before[name], after[name])
			}
		}
	}
	same(t, db, rows)
	db.SetRun(500)
	more := some(32, 700)
	for i := range more {
		more[i].Seq += rows[len(rows)-1].Seq
	}
	steps(t, &trafficdb.Loader{Source: source(append(stored(rows), stored(more)...)), DB: db, Log: quiet(), Batch: 100})
	loose("200")
}
