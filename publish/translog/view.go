package translog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/firstpick/firstpick/publish/storage"
)

// ErrNoLog means that a place has no log.
var ErrNoLog = errors.New("no log")

// A View is a log at one head. All that it returns is checked against the head.
type View struct {
	Head
	// Checkpoint is the signed head as it was read: the proof of what the key signed.
	Checkpoint []byte
	from       storage.Opener
}

// Open reads the head of the log at a place. The error is ErrNoLog for a place without a
// log and a *FileError for a malformed head. The caller decides whether the key of the head
// is the right one.
func Open(ctx context.Context, from storage.Opener) (*View, error) {
	data, _, err := storage.ReadAll(ctx, from, checkpointName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoLog
	}
	if err != nil {
		return nil, err
	}
	head, err := ParseCheckpoint(data)
	return &View{head, data, from}, err
}

// Entries returns the entries with the indices from begin to end, which is not included.
func (v *View) Entries(ctx context.Context, begin, end int64) ([]Entry, error) {
	var out []Entry
	err := v.Each(ctx, begin, end, func(_ int64, e Entry) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// Each calls do with the entries that Entries returns, in their order, and stops at the
// first error. It holds 256 of them, and reads at most 256 MB. The error is do's, a
// *FileError, or that of reading a file.
func (v *View) Each(ctx context.Context, begin, end int64, do func(index int64, e Entry) error) error {
	return v.texts(ctx, begin, end, func(index int64, text []byte) error {
		e, err := ParseEntry(text)
		if err != nil {
			return &FileError{pathOf(v.entriesOf(index / fullTile)), fmt.Errorf("entry %d: %w", index, err)}
		}
		return do(index, e)
	})
}

// texts calls do with the bytes of entries.
func (v *View) texts(ctx context.Context, begin, end int64, do func(index int64, text []byte) error) error {
	if begin < 0 || end < begin || end > v.Size {
		return fmt.Errorf("log: entries %d to %d of %d", begin, end, v.Size)
	}
	hashes, total := v.hashes(ctx), 0
	for n := begin / fullTile; n*fullTile < end; n++ {
		bundle, err := v.bundle(ctx, n, hashes)
		if err != nil {
			return err
		}
		for i, text := range bundle {
			index := n*fullTile + int64(i)
			if index < begin || index >= end {
				continue
			}
			if total += len(text); total > maxBytes {
				return &FileError{pathOf(v.entriesOf(n)), fmt.Errorf("the entries of the log have more than %d MB", maxBytes>>20)}
			}
			if err := do(index, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// entriesOf is a bundle of entries, as wide as the head has it.
func (v *View) entriesOf(n int64) tlog.Tile {
	return entriesTile(n, int(min(fullTile, v.Size-n*fullTile)))
}

// bundle returns the entries of a bundle, as far as the head has them.
func (v *View) bundle(ctx context.Context, n int64, hashes tlog.HashReader) ([][]byte, error) {
	t := v.entriesOf(n)
	data, err := readTile(ctx, v.from, t)
	if err != nil {
		return nil, err
	}
	texts, err := splitEntries(data, t.W)
	if err != nil {
		return nil, &FileError{pathOf(t), err}
	}
	indices := make([]int64, len(texts))
	for i := range texts {
		indices[i] = tlog.StoredHashIndex(0, n*fullTile+int64(i))
	}
	want, err := hashes.ReadHashes(indices)
	if err != nil {
		return nil, err
	}
	for i, text := range texts {
		if tlog.RecordHash(text) != want[i] {
			return nil, &FileError{pathOf(t), fmt.Errorf("entry %d differs from the hash in the tree", n*fullTile+int64(i))}
		}
	}
	return texts, nil
}

// Consistency returns the proof (RFC 6962, 2.1.2) that the first entries of the tree are
// those of an older tree of that size.
func (v *View) Consistency(ctx context.Context, size int64) (tlog.TreeProof, error) {
	return tlog.ProveTree(v.Size, size, v.hashes(ctx))
}

// A ForkError means that a log does not continue an older head of its own.
type ForkError struct {
	Before, Now Head
	Reason      string
}

// Error implements error.
func (e *ForkError) Error() string {
	return fmt.Sprintf("log/checkpoint: %s: before: %s; now: %s", e.Reason, e.Before, e.Now)
}

// Extends checks that the log still has all entries of an older head. The error is a
// *ForkError if it has not, and a *FileError if a tile is missing or wrong.
func (v *View) Extends(ctx context.Context, before Head) error {
	fork := func(reason string) error { return &ForkError{before, v.Head, reason} }
	switch {
	case !before.Key.Equal(v.Key):
		return fork("another key signs the log: it was replaced")
	case before.Size > v.Size:
		return fork("the log was truncated")
	case before.Size < 1:
		return nil
	}
	proof, err := v.Consistency(ctx, before.Size)
	if err != nil {
		return fmt.Errorf("consistency with %s: %w", before, err)
	}
	if tlog.CheckTree(proof, v.Size, v.Hash, before.Size, before.Hash) != nil {
		return fork("the log was rewritten (fork)")
	}
	return nil
}

// Agrees checks that the view and another head are heads of one log: the larger one has all
// entries of the smaller one. The error is that of Extends.
func (v *View) Agrees(ctx context.Context, other Head) error {
	if other.Size <= v.Size {
		return v.Extends(ctx, other)
	}
	err := (&View{Head: other, from: v.from}).Extends(ctx, v.Head)
	if errors.As(err, new(*FileError)) { // the place shows different heads, and has the tiles of one
		err = &ForkError{other, v.Head, "the place does not have the entries of a head that it showed"}
	}
	return err
}
