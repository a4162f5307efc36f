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

// Open reads the head of the log at a place. The error is ErrNoLog if there is none and a
// *SignatureError if the head is malformed. The caller decides whether the key of the head
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
	texts, err := v.texts(ctx, begin, end)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, len(texts))
	for i, text := range texts {
		if out[i], err = ParseEntry(text); err != nil {
			return nil, fmt.Errorf("log: entry %d: %w", begin+int64(i), err)
		}
	}
	return out, nil
}

// texts returns the bytes of entries.
func (v *View) texts(ctx context.Context, begin, end int64) ([][]byte, error) {
	if begin < 0 || end < begin || end > v.Size {
		return nil, fmt.Errorf("log: entries %d to %d of %d", begin, end, v.Size)
	}
	var out [][]byte
	for n := begin / fullTile; n*fullTile < end; n++ {
		bundle, err := v.bundle(ctx, n)
		if err != nil {
			return nil, err
		}
		first := n * fullTile
		out = append(out, bundle[max(begin-first, 0):min(end-first, int64(len(bundle)))]...)
	}
	return out, nil
}

// bundle returns the entries of a bundle, as far as the head has them.
func (v *View) bundle(ctx context.Context, n int64) ([][]byte, error) {
	t := entriesTile(n, int(min(fullTile, v.Size-n*fullTile)))
	data, err := readTile(ctx, v.from, t)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	texts, err := splitEntries(data, t.W)
	if err != nil {
		return nil, fmt.Errorf("log: %s: %w", pathOf(t), err)
	}
	indices := make([]int64, len(texts))
	for i := range texts {
		indices[i] = tlog.StoredHashIndex(0, n*fullTile+int64(i))
	}
	want, err := hashes(ctx, v.from, v.tree()).ReadHashes(indices)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	for i, text := range texts {
		if tlog.RecordHash(text) != want[i] {
			return nil, fmt.Errorf("log: %s: entry %d differs from the hash in the tree", pathOf(t), n*fullTile+int64(i))
		}
	}
	return texts, nil
}

// Inclusion returns the proof (RFC 6962, 2.1.1) that an entry is in the tree of the head.
func (v *View) Inclusion(ctx context.Context, index int64) (tlog.RecordProof, error) {
	return tlog.ProveRecord(v.Size, index, hashes(ctx, v.from, v.tree()))
}

// Includes checks by its proof that the entry at an index has this text.
func (v *View) Includes(ctx context.Context, index int64) error {
	texts, err := v.texts(ctx, index, index+1)
	if err != nil {
		return err
	}
	proof, err := v.Inclusion(ctx, index)
	if err != nil {
		return fmt.Errorf("log: inclusion of entry %d: %w", index, err)
	}
	if err := tlog.CheckRecord(proof, v.Size, v.Hash, index, tlog.RecordHash(texts[0])); err != nil {
		return fmt.Errorf("log: inclusion of entry %d: %w", index, err)
	}
	return nil
}

// Consistency returns the proof (RFC 6962, 2.1.2) that the first entries of the tree are
// those of an older tree of that size.
func (v *View) Consistency(ctx context.Context, size int64) (tlog.TreeProof, error) {
	return tlog.ProveTree(v.Size, size, hashes(ctx, v.from, v.tree()))
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
// *ForkError if it has not.
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
		return fmt.Errorf("log: consistency with %s: %w", before, err)
	}
	if tlog.CheckTree(proof, v.Size, v.Hash, before.Size, before.Hash) != nil {
		return fork("the log was rewritten (fork)")
	}
	return nil
}
