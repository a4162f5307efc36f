package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
)

// written returns the bytes of a run's first segment holding these records.
func written(t testing.TB, records ...int) []byte {
	t.Helper()
	root := t.TempDir()
	j := create(t, root, "r1")
	appendAll(t, j, records...)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(segment(root, "r1", 1))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// holding makes a closed run whose only segment holds data.
func holding(t testing.TB, data []byte) (root string) {
	t.Helper()
	root = t.TempDir()
	if err := create(t, root, "r1").Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment(root, "r1", 1), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestATornTailAtAnyByteCostsOnlyTheLastRecord(t *testing.T) {
	whole := written(t, 1, 2, 3)
	lastLine := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	root := holding(t, whole)
	path := segment(root, "r1", 1)
	for cut := lastLine; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, root, "r1", 1, 2)
		j, err := journal.Open(root, "r1")
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Size() != int64(lastLine) {
			t.Fatalf("cut at %d: repaired to %d bytes, want %d (%v)", cut, info.Size(), lastLine, err)
		}
		appendAll(t, j, 4)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		wantNumbers(t, root, "r1", 1, 2, 4)
	}
}

func TestDamageIsToldWithFileAndByte(t *testing.T) {
	whole := written(t, 1, 2, 3)
	second := int64(bytes.IndexByte(whole, '\n') + 1)
	flipped := bytes.Clone(whole)
	flipped[second+40] ^= 1
	root := holding(t, flipped)
	got, end, err := numbers(t, root, "r1", journal.Offset{})
	var damage *journal.DamageError
	if !errors.As(err, &damage) || damage.Byte != second || damage.Path != segment(root, "r1", 1) {
		t.Fatalf("error: %v", err)
	}
	if len(got) != 1 || end != (journal.Offset{Segment: 1, Byte: second}) {
		t.Fatalf("read %v up to %v", got, end)
	}
}

// Every record was acknowledged, so none may be dropped: not the last one either,
// which is whole as long as its newline is there.
func TestEveryFlippedBitIsNoticed(t *testing.T) {
	whole := written(t, 1, 2)
	root := holding(t, whole)
	path := segment(root, "r1", 1)
	for i := range len(whole) - 1 { // without the last newline it is torn, tested above
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		var damage *journal.DamageError
		if got, _, err := numbers(t, root, "r1", journal.Offset{}); !errors.As(err, &damage) {
			t.Fatalf("byte %d: read %v, %v", i, got, err)
		}
		if err := journal.Verify(root, "r1"); !errors.As(err, &damage) {
			t.Fatalf("byte %d: verified, %v", i, err)
		}
		if _, err := journal.Open(root, "r1"); !errors.As(err, &damage) {
			t.Fatalf("byte %d: opened, %v", i, err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() != int64(len(whole)) {
			t.Fatalf("byte %d: the damaged file was cut to %d bytes, %v", i, info.Size(), err)
		}
	}
}

func TestDamageInTheLastRecordSaysHowToDropIt(t *testing.T) {
	whole := written(t, 1, 2, 3)
	last := int64(bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1)
	whole[last+40] ^= 1
	root := holding(t, whole)
	path := segment(root, "r1", 1)
	err := journal.Verify(root, "r1")
	var damage *journal.DamageError
	if !errors.As(err, &damage) || damage.Byte != last || damage.Path != path {
		t.Fatalf("error: %v", err)
	}
	if want := fmt.Sprintf("truncate -s %d %s", last, path); !strings.Contains(err.Error(), want) {
		t.Fatalf("error %q does not name %q", err, want)
	}
	if err := os.Truncate(path, last); err != nil {
		t.Fatal(err)
	}
	if err := journal.Verify(root, "r1"); err != nil {
		t.Fatalf("after the cut: %v", err)
	}
	wantNumbers(t, root, "r1", 1, 2)
}

func TestATornTailIsNoDamage(t *testing.T) {
	whole := written(t, 1, 2)
	root := holding(t, whole[:len(whole)-1])
	if err := journal.Verify(root, "r1"); err != nil {
		t.Fatal(err)
	}
}

// A segment's end and beginning are between records, so a run may be laid out
// in segments by hand.
func TestLostSegmentsAreDamage(t *testing.T) {
	damages := map[string]func(root string) error{
		"a segment in the middle is gone": func(root string) error { return os.Remove(segment(root, "r1", 2)) },
		"the first segment is gone":       func(root string) error { return os.Remove(segment(root, "r1", 1)) },
		"a full segment lost its end":     func(root string) error { return os.Truncate(segment(root, "r1", 1), 100) },
	}
	for name, harm := range damages {
		t.Run(name, func(t *testing.T) {
			root := holding(t, written(t, 1))
			for n := 2; n <= 3; n++ {
				if err := os.WriteFile(segment(root, "r1", n), written(t, n), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			wantNumbers(t, root, "r1", 1, 2, 3)
			if err := harm(root); err != nil {
				t.Fatal(err)
			}
			var damage *journal.DamageError
			if got, _, err := numbers(t, root, "r1", journal.Offset{}); !errors.As(err, &damage) {
				t.Fatalf("read %v, error: %v", got, err)
			}
			if found, err := journal.Find(root, "r1", "0"); !errors.As(err, &damage) {
				t.Fatalf("found %d records, error: %v", len(found), err)
			}
			if err := journal.Verify(root, "r1"); !errors.As(err, &damage) {
				t.Fatalf("verified, error: %v", err)
			}
		})
	}
}

func TestAJournalShorterThanWhatWasReadIsDamage(t *testing.T) {
	root := holding(t, written(t, 1))
	var damage *journal.DamageError
	for _, from := range []journal.Offset{{Segment: 1, Byte: 1 << 20}, {Segment: 2}, {Segment: 2, Byte: 9}} {
		if _, _, err := numbers(t, root, "r1", from); !errors.As(err, &damage) {
			t.Errorf("from %v: %v", from, err)
		}
	}
}

func TestOversizeIsRefusedBeforeItIsWritten(t *testing.T) {
	root := t.TempDir()
	big := run("r2")
	big.Notes = []string{strings.Repeat("x", 16<<20)}
	if _, err := journal.Create(root, big); err == nil {
		t.Fatalf("a run.json over 16 MiB: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "r2")); err == nil {
		t.Fatal("the run was created")
	}
	j := create(t, root, "r1")
	r := record(1)
	r.Answer.Transcript.FinalText = strings.Repeat("x", 64<<20)
	if err := j.Append(t.Context(), record(2), r); err == nil {
		t.Fatal("a record over 64 MiB was taken")
	}
	appendAll(t, j, 3)
	wantNumbers(t, root, "r1", 3)
}
