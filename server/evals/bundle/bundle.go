package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

// maxDocument is the most bytes of a file that is read into memory whole.
const maxDocument = 64 << 20

// A Bundle is open for reading. Its methods may be called by many goroutines.
type Bundle struct {
	ID       string
	Manifest format.Manifest

	root    *os.Root
	files   []io.Closer
	scores  []byte
	names   format.Names
	index   index
	traces  io.ReaderAt
	decoder *zstd.Decoder
	close   func() error
}

// Open opens the bundle root/id. It fails with ErrNotFound for a missing bundle and
// with a *DamageError for one that was altered.
func Open(root, id string) (*Bundle, error) {
	decoder, err := newDecoder()
	if err != nil {
		return nil, err
	}
	return openWith(root, id, decoder)
}

// openWith opens a bundle that unpacks with a decoder that others may use too: one
// takes 600 kB a core.
func openWith(root, id string, decoder *zstd.Decoder) (_ *Bundle, err error) {
	if !regexp.MustCompile(`^[0-9a-f]{20}$`).MatchString(id) {
		return nil, fmt.Errorf("run bundle %q: an id has 20 digits of 0-9a-f: %w", id, ErrNotFound)
	}
	dir, err := os.OpenRoot(filepath.Join(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run bundle %s: %w", id, ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("run bundle %s: %w", id, err)
	}
	b := &Bundle{ID: id, root: dir, decoder: decoder}
	b.close = sync.OnceValue(b.release)
	if err := b.load(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close closes the files. Concurrent reads fail or finish normally.
func (b *Bundle) Close() error { return b.close() }

func (b *Bundle) release() error {
	errs := []error{b.root.Close()}
	for _, f := range b.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func (b *Bundle) load() error {
	data, err := b.document(format.ManifestName)
	if err != nil {
		return err
	}
	if b.Manifest, err = parseManifest(b.ID, data); err != nil {
		return err
	}
	for _, f := range b.Manifest.Files {
		if err := b.check(f); err != nil {
			return err
		}
	}
	if err := b.names.Check(); err != nil {
		return b.damaged(format.NamesName, err.Error())
	}
	if err := b.index.open(); err != nil {
		return b.damaged(format.IndexName, err.Error())
	}
	return nil
}

// check verifies a file against the manifest and loads the parts needed in memory.
func (b *Bundle) check(f format.File) error {
	switch f.Path {
	case format.TracesName, format.IndexName, format.TrialsName:
		return b.checkLarge(f)
	}
	data, err := b.document(f.Path)
	if err != nil {
		return err
	}
	if err := b.same(f, digest(data)); err != nil {
		return err
	}
	if f.Path == format.ScoresName {
		b.scores = data
		return nil
	}
	if err := json.Unmarshal(data, &b.names); err != nil {
		return b.damaged(f.Path, err.Error())
	}
	return nil
}

// checkLarge verifies the files that are not kept in memory: the index by its hash, the
// trials, which the index checks, by size alone.
func (b *Bundle) checkLarge(f format.File) error {
	file, err := b.sized(f)
	if err != nil {
		return err
	}
	if f.Path == format.TrialsName {
		return file.Close() // reopened for each reader
	}
	b.files = append(b.files, file)
	if f.Path == format.TracesName {
		b.traces, b.index.traces = file, f.Bytes
		return nil
	}
	b.index.file, b.index.size = file, f.Bytes
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return b.fail(err)
	}
	return b.same(f, hex.EncodeToString(h.Sum(nil)))
}

func (b *Bundle) same(f format.File, sum string) error {
	if sum != f.SHA256 {
		return b.damaged(f.Path, "its hash is not the manifest's")
	}
	return nil
}

// sized opens a file that has as many bytes as the manifest says.
func (b *Bundle) sized(f format.File) (*os.File, error) {
	file, size, err := b.open(f.Path)
	if err == nil && size != f.Bytes {
		err = errors.Join(b.damaged(f.Path, fmt.Sprintf("%d bytes, the manifest says %d", size, f.Bytes)), file.Close())
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// open opens a regular file of the bundle. It refuses links and devices: opening one
// could leave the folder, or block for ever.
func (b *Bundle) open(name string) (*os.File, int64, error) {
	info, err := b.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, b.damaged(name, "missing")
	} else if err != nil {
		return nil, 0, b.fail(err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, b.damaged(name, "not a file")
	}
	f, err := b.root.Open(name)
	if err != nil {
		return nil, 0, b.fail(err)
	}
	return f, info.Size(), nil
}

// document reads a file that is kept in memory.
func (b *Bundle) document(name string) (_ []byte, err error) {
	f, size, err := b.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if size > maxDocument {
		return nil, b.damaged(name, fmt.Sprintf("%d bytes; at most %d are read", size, maxDocument))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxDocument))
	if err != nil {
		return nil, b.fail(err)
	}
	return data, nil
}

func (b *Bundle) damaged(name, reason string) error { return &DamageError{b.ID + "/" + name, reason} }

// fail places an error of the system.
func (b *Bundle) fail(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return fmt.Errorf("run bundle %s: %w", b.ID, ErrClosed)
	}
	return fmt.Errorf("run bundle %s: %w", b.ID, err)
}

func (b *Bundle) file(name string) format.File {
	for _, f := range b.Manifest.Files {
		if f.Path == name {
			return f
		}
	}
	return format.File{}
}

// Scores returns scores.json as it is. It must not be changed.
func (b *Bundle) Scores() []byte { return b.scores }

// Parquet opens trials.parquet and returns it with its size. The caller closes it.
func (b *Bundle) Parquet() (io.ReadSeekCloser, int64, error) {
	f := b.file(format.TrialsName)
	file, err := b.sized(f)
	if err != nil {
		return nil, 0, err
	}
	return file, f.Bytes, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
