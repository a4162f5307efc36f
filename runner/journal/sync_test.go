package journal

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// recorder stands in for fsync and notes how large the file was each time.
type recorder struct {
	sizes []int64
	err   error
}

func (r *recorder) sync(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	r.sizes = append(r.sizes, size)
	return errors.Join(err, r.err)
}

// What Append and Put acknowledge must be below an fsync that came after the write.
func TestWhatIsAcknowledgedIsSynced(t *testing.T) {
	tests := map[string]struct {
		open func(*Journal) (*segments, error)
		put  func(context.Context, *Journal) error
	}{
		"a record": {
			open: func(j *Journal) (*segments, error) { return j.records, nil },
			put:  func(ctx context.Context, j *Journal) error { return j.Append(ctx, Record{Kind: KindResult}) },
		},
		"an answer as it came": {
			open: func(j *Journal) (*segments, error) { return j.raw.open() },
			put: func(ctx context.Context, j *Journal) error {
				_, err := j.Put(ctx, []byte("an answer"))
				return err
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			j, err := Create(t.TempDir(), Run{ID: "r1", CreatedAt: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = j.Close() }()
			s, err := tt.open(j)
			if err != nil {
				t.Fatal(err)
			}
			var disk recorder
			s.sync = disk.sync // before the first append: the writing goroutine sees it
			for n := 1; n <= 3; n++ {
				if err := tt.put(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				info, err := s.file.Stat()
				if err != nil {
					t.Fatal(err)
				}
				if len(disk.sizes) != n || disk.sizes[n-1] != info.Size() {
					t.Fatalf("append %d of a file of %d bytes: synced at sizes %v", n, info.Size(), disk.sizes)
				}
			}
			disk.err = errors.New("the disk is gone")
			if err := tt.put(t.Context(), j); !errors.Is(err, disk.err) {
				t.Fatalf("an append that could not be synced: %v", err)
			}
		})
	}
}
