package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/publish"
)

// TestTrends: a board that two snapshots have with the same trials counts once, with the newer
// snapshot.
func TestTrends(t *testing.T) {
	data := t.TempDir()
	firstpick(t, data, "demo", "--no-serve")
	runs, err := os.ReadDir(filepath.Join(data, "runs"))
	if err != nil || len(runs) < 2 {
		t.Fatal(len(runs), err)
	}
	p := &published{place: publish.Local(filepath.Join(data, "snapshots"))}
	older, err := p.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	firstpick(t, data, "publish", "--run", runs[0].Name())
	newer, err := p.place.Load(t.Context(), mustCurrent(t, p))
	if err != nil || len(newer.Boards) != 1 {
		t.Fatal(len(newer.Boards), err)
	}
	board := newer.Boards[0]
	if series, err := p.Trends(t.Context(), older, []string{"webserver", "distributed", "payments"}); err != nil || len(series) != 2 {
		t.Fatalf("%d series, %v", len(series), err)
	}
	series, err := p.Trends(t.Context(), newer.ID, []string{board.Category})
	if err != nil || len(series) != 1 || len(series[0].Nights) != 1 {
		t.Fatalf("%+v %v", series, err)
	}
	night := series[0].Nights[0]
	if night.Snapshot != newer.ID {
		t.Errorf("the night is of %s, not of %s", night.Snapshot, newer.ID)
	}
	if got, want := night.Tools[0], board.Tools[0]; got.Slug != want.Slug || got.PickRate != want.PickRate || len(night.Breaks) > 0 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func mustCurrent(t *testing.T, p *published) string {
	t.Helper()
	id, err := p.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}
