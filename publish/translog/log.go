package translog

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/firstpick/firstpick/publish/storage"
)

// ErrOtherKey means that a log is signed with another key.
var ErrOtherKey = errors.New("the log is signed with another key, and a log keeps its first one")

// A Log appends to the log of a place. Several processes may append at the same time.
//
// Writers agree on the next entries before they write a tile: log/pending names them, and
// a swap of it by its tag has one winner. From then on every file of the log follows from
// the last checkpoint and log/pending, so that every writer writes the same bytes. A writer
// that dies leaves log/pending; the next one finishes it and then appends its own entries.
type Log struct {
	Store  storage.Store
	Signer ed25519.PrivateKey
}

const (
	// maxBatch limits the entries of one step: a signed note has less than a megabyte.
	maxBatch = 32
	// maxTries limits how often a writer gives way to others.
	maxTries = 1000
)

// Append appends entries and returns the index of the first. The entries are in the log
// when it returns; after an error they may still be appended by the next writer. The error
// is ErrOtherKey if Signer is not the key of the log.
func (l Log) Append(ctx context.Context, entries ...Entry) (first int64, err error) {
	if len(entries) == 0 {
		return 0, errors.New("log: nothing to append")
	}
	texts := make([][]byte, len(entries))
	for i, e := range entries {
		if texts[i], err = e.encode(); err != nil {
			return 0, err
		}
	}
	first = -1
	for batch := range slices.Chunk(texts, maxBatch) {
		at, err := l.append(ctx, batch)
		if err != nil {
			return 0, fmt.Errorf("append to the log: %w", err)
		}
		if first < 0 {
			first = at
		}
	}
	return first, nil
}

func (l Log) append(ctx context.Context, texts [][]byte) (int64, error) {
	for range maxTries {
		s, err := l.read(ctx)
		if err != nil {
			return 0, err
		}
		if s.unfinished() {
			if err := l.finish(ctx, s); err != nil {
				return 0, err
			}
			continue
		}
		s.pending = pending{s.head.tree(), texts}
		if s.pending.end() > maxSize {
			return 0, fmt.Errorf("the log is full: it has at most %d entries; publish to another place, which begins a log of its own", maxSize)
		}
		data, err := s.pending.encode(l.Signer)
		if err != nil {
			return 0, err
		}
		_, err = l.Store.Swap(ctx, pendingName, data, s.pendingTag)
		if errors.Is(err, storage.ErrChanged) {
			continue
		}
		if err != nil {
			return 0, err
		}
		return s.pending.base.N, l.finish(ctx, s)
	}
	return 0, errors.New("other writers always came first; try again")
}

// A state is what the two files that change hold.
type state struct {
	head       Head // of size 0 without a checkpoint
	headTag    string
	pending    pending
	pendingTag string
}

func (s state) unfinished() bool { return s.pending.end() > s.head.Size }

// read reads the state: pending first, so that its entries are never newer than the head
// can be.
func (l Log) read(ctx context.Context) (s state, err error) {
	key := l.Signer.Public().(ed25519.PublicKey) //nolint:forcetypeassert // documented
	data, tag, err := storage.ReadAll(ctx, l.Store, pendingName)
	if err == nil {
		var signedBy ed25519.PublicKey
		s.pendingTag = tag
		if s.pending, signedBy, err = parsePending(data); err != nil {
			return s, err
		}
		if !key.Equal(signedBy) {
			return s, ErrOtherKey
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	data, tag, err = storage.ReadAll(ctx, l.Store, checkpointName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.head.Key = key
	case err != nil:
		return s, err
	default:
		s.headTag = tag
		if s.head, err = ParseCheckpoint(data); err != nil {
			return s, err
		}
	}
	if !key.Equal(s.head.Key) {
		return s, ErrOtherKey
	}
	if base := s.pending.base; base.N > s.head.Size || base.N == s.head.Size && base.N > 0 && base.Hash != s.head.Hash ||
		s.unfinished() && base.N != s.head.Size {
		return s, fmt.Errorf("%s does not continue %s: a file of the log was restored from an older copy", pendingName, checkpointName)
	}
	return s, nil
}

// finish writes the pending entries: entries, tiles, then the checkpoint.
func (l Log) finish(ctx context.Context, s state) error {
	tree, err := l.grow(ctx, s)
	if err != nil {
		return err
	}
	data, err := Head{s.head.Key, tree.N, tree.Hash}.encode(l.Signer)
	if err != nil {
		return err
	}
	_, err = l.Store.Swap(ctx, checkpointName, data, s.headTag)
	if errors.Is(err, storage.ErrChanged) { // by a writer who finished the same entries, and maybe more
		now, err := l.read(ctx)
		if err == nil && now.head.Size < tree.N {
			err = fmt.Errorf("%s has %d entries, want %d", checkpointName, now.head.Size, tree.N)
		}
		return err
	}
	if err != nil {
		return err
	}
	return l.sweep(ctx, s.head.Size, tree.N)
}

// grow writes the entries and the tiles, and returns the new tree.
func (l Log) grow(ctx context.Context, s state) (tlog.Tree, error) {
	view := &View{Head: s.head, from: l.Store}
	size := s.head.Size
	added := map[int64]tlog.Hash{}
	reader := tlog.HashReaderFunc(func(indices []int64) ([]tlog.Hash, error) {
		out, old, at := make([]tlog.Hash, len(indices)), []int64{}, []int{}
		for i, index := range indices {
			h, ok := added[index]
			if out[i] = h; !ok {
				old, at = append(old, index), append(at, i)
			}
		}
		if len(old) == 0 {
			return out, nil
		}
		known, err := view.hashes(ctx).ReadHashes(old)
		for i := range known {
			out[at[i]] = known[i]
		}
		return out, err
	})
	for _, text := range s.pending.entries {
		list, err := tlog.StoredHashes(size, text, reader)
		if err != nil {
			return tlog.Tree{}, err
		}
		for i, h := range list {
			added[tlog.StoredHashIndex(0, size)+int64(i)] = h
		}
		size++
	}
	texts := s.pending.entries
	if before := s.head.Size % fullTile; before > 0 {
		var old [][]byte
		err := view.texts(ctx, s.head.Size-before, s.head.Size, func(_ int64, text []byte) error {
			old = append(old, text)
			return nil
		})
		if err != nil {
			return tlog.Tree{}, err
		}
		texts = slices.Concat(old, texts)
	}
	for n := s.head.Size / fullTile; len(texts) > 0; n++ {
		width := min(len(texts), fullTile)
		if err := l.put(ctx, entriesTile(n, width), joinEntries(texts[:width])); err != nil {
			return tlog.Tree{}, err
		}
		texts = texts[width:]
	}
	for _, t := range tlog.NewTiles(height, s.head.Size, size) {
		data, err := tlog.ReadTileData(t, reader)
		if err != nil {
			return tlog.Tree{}, err
		}
		if err := l.put(ctx, t, data); err != nil {
			return tlog.Tree{}, err
		}
	}
	root, err := tlog.TreeHash(size, reader)
	return tlog.Tree{N: size, Hash: root}, err
}

// put writes a tile, which another writer may have written.
func (l Log) put(ctx context.Context, t tlog.Tile, data []byte) error {
	err := l.Store.Put(ctx, pathOf(t), bytes.NewReader(data))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	there, _, err := storage.ReadAll(ctx, l.Store, pathOf(t))
	if err == nil && !bytes.Equal(there, data) {
		err = fmt.Errorf("%s has other content: the log was restored from an older copy, or another program wrote to it", pathOf(t))
	}
	return err
}

// sweep removes the partial tiles whose full ones are there.
func (l Log) sweep(ctx context.Context, before, now int64) error {
	for level := -1; now>>(height*max(level+1, 1)) > 0; level++ {
		shift := height * max(level+1, 1)
		for n := before >> shift; n < now>>shift; n++ {
			full := pathOf(tlog.Tile{H: height, L: level, N: n, W: fullTile})
			list, err := l.Store.List(ctx, full+".p/")
			if err != nil {
				return err
			}
			for _, f := range list {
				if strings.HasPrefix(f.Name, full+".p/") {
					if err := l.Store.Remove(ctx, f.Name); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}
