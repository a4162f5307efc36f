package trialset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The files of a set.
const (
	namesName  = "names.json"
	indexName  = "traces.idx"
	tracesName = "traces.zst"
)

// FileNames returns the files of a set, sorted.
func FileNames() []string { return []string{namesName, indexName, tracesName} }

// A Set is open for reading. Its methods may be called by many goroutines.
type Set struct {
	place   Place
	files   []Handle
	names   names
	index   index
	traces  io.ReaderAt
	decoder *zstd.Decoder
	close   func() error
}

// Open opens the set of a place, which reads its names and the hash of its index. A nil
// decoder stands for one of its own. It fails with a *DamageError for a set that was
// altered.
func Open(p Place, decoder *zstd.Decoder) (_ *Set, err error) {
	if decoder == nil {
		if decoder, err = NewDecoder(); err != nil {
			return nil, err
		}
	}
	s := &Set{place: p, decoder: decoder}
	s.close = sync.OnceValue(s.release)
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the files. Concurrent reads fail or finish normally.
func (s *Set) Close() error { return s.close() }

func (s *Set) release() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (s *Set) load() error {
	data, err := s.place.Document(namesName)
	if err != nil {
		return err
	}
	err = json.Unmarshal(data, &s.names)
	if err == nil {
		err = s.names.check()
	}
	if err != nil {
		return s.place.damaged(namesName, err.Error())
	}
	idx, want, err := s.place.Sized(indexName)
	if err != nil {
		return err
	}
	s.files = append(s.files, idx)
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(idx, 0, want.Bytes)); err != nil {
		return s.place.fail(err)
	}
	if hex.EncodeToString(h.Sum(nil)) != want.SHA256 {
		return s.place.otherHash(indexName)
	}
	traces, lines, err := s.place.Sized(tracesName) // its frames are checked where they are read
	if err != nil {
		return err
	}
	s.files, s.traces = append(s.files, traces), traces
	s.index = index{file: idx, size: want.Bytes, traces: lines.Bytes}
	if err := s.index.open(); err != nil {
		return s.place.damaged(indexName, err.Error())
	}
	return nil
}

// Place returns where the set is.
func (s *Set) Place() *Place { return &s.place }

// Agents returns the agents of the trials, in the order of names.json.
func (s *Set) Agents() []string { return slices.Clone(s.names.Agents) }

// Prompts returns the ids of the prompts of the trials, in the order of names.json.
func (s *Set) Prompts() []string { return slices.Clone(s.names.Prompts) }
