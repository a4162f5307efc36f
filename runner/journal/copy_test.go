package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

func TestACopyOfARunIsWhole(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "runs")
	j, err := journal.Create(from, journal.Run{ID: "r", Eval: eval.Eval{Name: "e"}, Synthetic: true})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := j.Put(t.Context(), []byte("as it came"))
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), journal.Record{Kind: journal.KindAttempt, Trial: plan.Trial{ID: "t"}, Reason: "x", Raw: &ref}); err != nil {
		t.Fatal(err)
	}
	if err := journal.Copy(from, to, "r"); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("while it is written: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := journal.Copy(from, to, "r"); err != nil {
		t.Fatal(err)
	}
	if err := journal.Copy(from, to, "r"); !errors.Is(err, os.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if err := journal.Copy(from, to, "none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
	list, _, err := journal.List(to)
	if err != nil || len(list) != 1 || !list[0].Synthetic {
		t.Errorf("%+v, %v", list, err)
	}
	records := 0
	if _, err := journal.Scan(to, "r", journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		records++
		raw, err := journal.ReadRaw(to, "r", *r.Raw)
		if string(raw) != "as it came" {
			t.Errorf("%q", raw)
		}
		return err
	}); err != nil || records != 1 {
		t.Errorf("%d records, %v", records, err)
	}
	// The copy goes on by itself.
	again, err := journal.Open(to, "r")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
