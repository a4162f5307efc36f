package trialset

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/publish/content"
)

// frameBytes limits the uncompressed size of a frame of several lines. A page of rare
// trials decompresses a frame for each; frames of 4 MiB would save a tenth of the disk
// space and take ten times as long.
const frameBytes = 256 << 10

// A Writer writes the files of a set. It holds a frame and the index in memory: 56 bytes
// for each trial.
type Writer struct {
	dir    string
	out    *content.Writer
	enc    *zstd.Encoder
	frames []frame
	lines  int // in buf
	buf    []byte
	packed []byte

	names   names
	places  map[string]map[string]uint32 // by list
	entries []byte
	n       int
}

// NewWriter begins a set in a folder. Outcomes are the names of outcomes in the order of
// names.json; Excluded follows them.
func NewWriter(dir string, outcomes []string) (*Writer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	out, err := content.Create(filepath.Join(dir, tracesName))
	if err != nil {
		return nil, errors.Join(err, enc.Close())
	}
	w := &Writer{
		dir: dir, out: out, enc: enc, places: map[string]map[string]uint32{},
		names: names{Agents: []string{}, Prompts: []string{}, Templates: []string{}},
	}
	for _, o := range append(outcomes[:len(outcomes):len(outcomes)], Excluded) {
		w.place("outcome", &w.names.Outcomes, o)
	}
	w.place("picked", &w.names.Picked, "")
	return w, nil
}

// Add appends a trial.
func (w *Writer) Add(t *Trace) error {
	line, err := content.JSON(t)
	if err != nil {
		return fmt.Errorf("trial %s: %w", t.ID, err)
	}
	if len(line) > lineBytes {
		return fmt.Errorf("trial %s takes %d bytes; the limit is %d", t.ID, len(line), lineBytes)
	}
	if w.lines == frameLines || w.lines > 0 && len(w.buf)+len(line) > frameBytes {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, line...)
	w.lines++
	return w.index(&t.Entry)
}

func (w *Writer) index(t *Entry) error {
	e := indexEntry{
		Outcome: byte(w.place("outcome", &w.names.Outcomes, t.Outcome)), Mismatch: t.Mismatch, Unresolved: t.Unresolved,
		Agent:    w.place("agent", &w.names.Agents, t.Agent),
		Prompt:   w.place("prompt", &w.names.Prompts, t.Prompt),
		Template: w.place("template", &w.names.Templates, t.Template),
		Repeat:   uint32(t.Repeat), //nolint:gosec // small
		Picked:   w.place("picked", &w.names.Picked, t.Picked),
		Frame:    uint32(len(w.frames)), Line: uint32(w.lines - 1), //nolint:gosec // small
		CostUSD: math.NaN(), WallMS: t.WallMS,
	}
	if t.CostUSD != nil {
		e.CostUSD = *t.CostUSD
	}
	id, err := hex.DecodeString(t.ID)
	if err != nil || len(id) != idBytes {
		return fmt.Errorf("trial %q: an id has %d hexadecimal digits", t.ID, 2*idBytes)
	}
	e.ID = [idBytes]byte(id)
	w.entries = e.append(w.entries)
	w.n++
	return nil
}

// place returns the place of a name in its list, and adds it if it is new.
func (w *Writer) place(list string, texts *[]string, name string) uint32 {
	if w.places[list] == nil {
		w.places[list] = map[string]uint32{}
	}
	i, ok := w.places[list][name]
	if !ok {
		i = uint32(len(*texts)) //nolint:gosec // at most one per trial
		*texts = append(*texts, name)
		w.places[list][name] = i
	}
	return i
}

func (w *Writer) flush() error {
	if w.lines == 0 {
		return nil
	}
	w.packed = w.enc.EncodeAll(w.buf, w.packed[:0])
	w.frames = append(w.frames, frame{
		At: uint64(w.out.Len()), Packed: uint32(len(w.packed)), Size: uint32(len(w.buf)), Lines: uint32(w.lines), //nolint:gosec // a frame is small
		Sum: sha256.Sum256(w.packed),
	})
	w.buf, w.lines = w.buf[:0], 0
	_, err := w.out.Write(w.packed)
	return err
}

// Close writes what is left and returns the files. It must be called, also after an error.
func (w *Writer) Close() ([]File, error) {
	err := w.flush()
	traces, closeErr := w.out.Close()
	if err := errors.Join(err, closeErr, w.enc.Close()); err != nil {
		return nil, err
	}
	out := appendHeader(nil, len(w.frames), w.n)
	for i := range w.frames {
		out = w.frames[i].append(out)
	}
	index, err := content.WriteFile(filepath.Join(w.dir, indexName), append(out, w.entries...))
	if err != nil {
		return nil, err
	}
	text, err := content.JSON(w.names)
	if err != nil {
		return nil, err
	}
	texts, err := content.WriteFile(filepath.Join(w.dir, namesName), text)
	return []File{texts, index, traces}, err
}
