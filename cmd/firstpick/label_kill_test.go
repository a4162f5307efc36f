//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/label"
)

// TestKilledLabellingLosesNothing labels on a terminal and kills the program at random
// moments: what the terminal said was stored is there.
func TestKilledLabellingLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var answers strings.Builder
	for i := range 120 {
		_, _ = fmt.Fprintf(&answers, `{"agent":"a","category":"payments","prompt_id":"p%d","prompt":"Let people pay on site %d.","repeat":1,"input":{"final_text":"I would use Stripe for site %d."}}`+"\n", i, i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(answers.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, firstpick(t, dir, "import", "a.jsonl", "--eval", "e"))
	runs := filepath.Join(dir, ".firstpick", "runs")
	list, _, err := journal.List(runs)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	id := list[0].ID
	file := label.File{Path: filepath.Join(runs, id, label.FileName), Run: id}
	stored := 0
	for round := range kills(t, 20) {
		p := newPTY(t)
		cmd := p.start(t, dir, "label", id, "--by", "ann", "--size", "120", "--seed", "1")
		p.await(t, "the first trial is shown", func() bool { return strings.Contains(p.seen(), "asked") })
		shown := stored
		keys := 1 + rand.IntN(8)
		for range keys {
			if _, err := p.person.WriteString("n"); err != nil {
				t.Fatal(err)
			}
		}
		p.await(t, "a label is acknowledged", func() bool { return strings.Contains(p.seen(), "stored: none") })
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond) // the moment of the kill is the test
		for n := shown + 1; n <= shown+keys; n++ {                  // the highest count that was drawn
			if strings.Contains(p.seen(), fmt.Sprintf("%d of 120", n)) {
				shown = n
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		set, err := file.Read()
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if n := len(set.Labels); n < max(shown, stored+1) || n > stored+keys {
			t.Fatalf("round %d: %d labels are stored; %d were before, %d were shown, %d keys typed", round, n, stored, shown, keys)
		}
		stored = len(set.Labels)
	}
	p := newPTY(t)
	cmd := p.start(t, dir, "label", id, "--by", "ann")
	p.await(t, "the labels are counted", func() bool { return strings.Contains(p.seen(), fmt.Sprintf("%d of 120 labelled", stored)) })
	if _, err := p.person.WriteString("uq"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if set, err := file.Read(); err != nil || len(set.Labels) != stored-1 {
		t.Errorf("after an undo: %v, %v", len(set.Labels), err)
	}
	if !p.echoes(t) {
		t.Error("the terminal does not echo any more")
	}
}
