package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
)

func TestALineLongerThanTheReadBufferIsRead(t *testing.T) {
	root := t.TempDir()
	j := create(t, root, "r1")
	long := record(2)
	long.Answer.Transcript.FinalText = strings.Repeat("long ", 1<<20)
	if err := j.Append(t.Context(), record(1), long, record(3)); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, root, "r1", 1, 2, 3)
}

// Whatever the bytes, Scan neither panics nor loops, returns a place inside the
// file, and going on from that place tells the same story.
func FuzzScan(f *testing.F) {
	f.Add(written(f, 1, 2))
	f.Add([]byte("00000000 {}\n"))
	f.Add([]byte("\n"))
	f.Add([]byte("8a136900"))
	root := f.TempDir()
	if err := create(f, root, "r1").Close(); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(root, "r1", "journal-000001.ndjson")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		last := journal.Offset{Segment: 1}
		end, err := journal.Scan(root, "r1", journal.Offset{}, func(_ journal.Record, at journal.Offset) error {
			if at.Byte <= last.Byte || data[at.Byte-1] != '\n' {
				t.Fatalf("a record ends at %v after %v", at, last)
			}
			last = at
			return nil
		})
		if end != last {
			t.Fatalf("ended at %v, the last record at %v", end, last)
		}
		var damage *journal.DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("error: %v", err)
		}
		more, _, again := numbers(t, root, "r1", end)
		if len(more) != 0 || (again == nil) != (err == nil) {
			t.Fatalf("from %v: %v, %v; before %v", end, more, again, err)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	root := b.TempDir()
	j := create(b, root, "r1")
	const records = 20_000
	batch := make([]journal.Record, records)
	for i := range batch {
		batch[i] = record(i + 1)
	}
	if err := j.Append(b.Context(), batch...); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(segment(root, "r1", 1))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		_, err := journal.Scan(root, "r1", journal.Offset{}, func(journal.Record, journal.Offset) error { n++; return nil })
		if err != nil || n != records {
			b.Fatal(n, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}

func BenchmarkVerify(b *testing.B) {
	root := b.TempDir()
	j := create(b, root, "r1")
	batch := make([]journal.Record, 20_000)
	for i := range batch {
		batch[i] = record(i + 1)
	}
	if err := j.Append(b.Context(), batch...); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(segment(root, "r1", 1))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if err := journal.Verify(root, "r1"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	j := create(b, b.TempDir(), "r1")
	r := record(1)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := j.Append(b.Context(), r); err != nil {
				b.Error(err)
			}
		}
	})
}
