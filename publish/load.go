package publish

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/eval"
)

// A Snapshot is a loaded snapshot, verified against its id. It
// must not be changed.
type Snapshot struct {
	ID       string
	Manifest Manifest
	// Boards are sorted by category. They have prompts, and their standings BeatenBy and
	// Breakdown; those of layout 1 have BeatenBy alone.
	Boards []analytics.Board
	// Refs are all tools of the catalogue, for name look-up.
	Refs []catalog.Ref
	// Observed is the field part; empty without a field study.
	Observed Observed

	root   string
	field  *fieldwork // what Observed is made of; nil once it is
	items  []analytics.CategoryItem
	boards map[string]int
}

// Board returns the board of a category.
func (s *Snapshot) Board(category string) (analytics.Board, bool) {
	i, ok := s.boards[category]
	if !ok {
		return analytics.Board{}, false
	}
	return s.Boards[i], true
}

// Report returns the report of a tool in a category.
func (s *Snapshot) Report(category, slug string) (analytics.Report, bool) {
	b, ok := s.Board(category)
	if !ok {
		return analytics.Report{}, false
	}
	return b.Report(slug)
}

// Categories returns the lines of the list of categories, sorted by slug.
func (s *Snapshot) Categories() []analytics.CategoryItem { return s.items }

// LoadSigned reads a snapshot of a folder and checks every file against its hash. It must be
// signed with one of the trusted keys; without any it need not be signed. It reads each byte
// once, and counts only what no document has: to compare the documents with the trials is
// Verify's work. The error is ErrNotFound or a *DamageError if they apply.
func LoadSigned(root, id string, trusted []ed25519.PublicKey) (*Snapshot, error) {
	s, err := load(root, id, trusted)
	if err != nil {
		return nil, err
	}
	s.Observed, s.field = s.field.recounted(), nil
	return s, nil
}

// load is LoadSigned without Observed.
func load(root, id string, trusted []ed25519.PublicKey) (*Snapshot, error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	if len(trusted) > 0 {
		if _, err := checkSignature(dir, id, trusted); err != nil {
			return nil, err
		}
	}
	m, err := readManifest(dir, id)
	if err != nil {
		return nil, err
	}
	f := newFolder(dir, m)
	docs, err := readFiles(dir, f.others)
	if err != nil {
		return nil, err
	}
	if err := checkTraces(context.Background(), dir, id, m); err != nil {
		return nil, err
	}
	s, err := assemble(id, m, docs, f.read)
	if err != nil {
		return nil, err
	}
	s.root = root
	return s, f.rest()
}

// A folder reads the documents of boards, of which there are many, when they are decoded:
// together they take more memory than the boards.
type folder struct {
	dir    *os.Root
	others []File

	mu     sync.Mutex
	unread map[string]File
}

func newFolder(dir *os.Root, m Manifest) *folder {
	f := &folder{dir: dir, unread: map[string]File{}}
	for _, file := range m.Files {
		switch head, _, _ := strings.Cut(file.Path, "/"); head {
		case "boards", "reports", "prompts":
			f.unread[file.Path] = file
		default:
			f.others = append(f.others, file)
		}
	}
	return f
}

// read reads a document and checks it; ok is false for one that the manifest does not list.
func (f *folder) read(name string) (data []byte, ok bool, err error) {
	f.mu.Lock()
	file, ok := f.unread[name]
	delete(f.unread, name)
	f.mu.Unlock()
	if ok {
		data, err = readListed(f.dir, file)
	}
	return data, ok, err
}

// rest checks the documents that no board needed.
func (f *folder) rest() error {
	for _, name := range slices.Sorted(maps.Keys(f.unread)) {
		if _, _, err := f.read(name); err != nil {
			return err
		}
	}
	return nil
}

// openSnapshot confines all reading to the snapshot's directory: a manifest
// from elsewhere cannot name a file outside.
func openSnapshot(root, id string) (*os.Root, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(filepath.Join(root, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", id, ErrNotFound)
	}
	return dir, err
}

// readManifestBytes returns the manifest's bytes after checking their hash against the
// id.
func readManifestBytes(dir *os.Root, id string) ([]byte, error) {
	data, err := readDocument(dir, manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no manifest: %w", id, ErrNotFound) // it is being written or removed
	}
	if err != nil {
		return nil, err
	}
	return data, checkDigest(id, data)
}

func checkDigest(id string, manifest []byte) error {
	if got := snapshotID(manifest); got != id {
		return &DamageError{Path: manifestName, Reason: "its hash is " + got + ", the snapshot's id is " + id}
	}
	return nil
}

func readManifest(dir *os.Root, id string) (Manifest, error) {
	data, err := readManifestBytes(dir, id)
	if err != nil {
		return Manifest{}, err
	}
	return ParseManifest(id, data)
}

// ParseManifest reads a manifest and refuses one that no version of this program can have
// written, with a *DamageError. It does not compare its hash with the id.
func ParseManifest(id string, data []byte) (m Manifest, err error) {
	damaged := func(format string, args ...any) (Manifest, error) {
		return m, &DamageError{Path: manifestName, Reason: fmt.Sprintf(format, args...)}
	}
	if tooMany(data) {
		return damaged("more than %d values", maxValues)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return damaged("%v", err)
	}
	if m.SchemaVersion > SchemaVersion {
		return m, fmt.Errorf("snapshot %s has layout %d, newer than %d, the newest that this version reads; update firstpick", id, m.SchemaVersion, SchemaVersion)
	}
	for i, f := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || !fs.ValidPath(f.Path) {
			return damaged("names a file outside the snapshot: %q", f.Path)
		}
		if f.Bytes < 0 || i > 0 && m.Files[i-1].Path >= f.Path {
			return damaged("%q of %d bytes: files are sorted, each occurs once", f.Path, f.Bytes)
		}
	}
	if m.SchemaVersion < 1 || m.Statistics < 0 || m.SchemaVersion >= 2 && m.Statistics < 2 { // layout 2 is younger than formulas 2
		return damaged("layout %d has no statistics %d", m.SchemaVersion, m.Statistics)
	}
	if m.SchemaVersion < 2 {
		return m, nil
	}
	if _, err := trialset.ParseLevel(string(m.Evidence)); err != nil {
		return damaged("%v", err)
	}
	places := map[string]bool{}
	for _, e := range m.Evals {
		place := trialset.Folder(e.Category, e.Name)
		twice := places[place]
		places[place] = true
		if twice || !eval.ValidName(e.Name) || !fs.ValidPath(place) || strings.Count(place, "/") != 2 {
			return damaged("eval %q of category %q occurs twice, or cannot be named so", e.Name, e.Category)
		}
	}
	return m, nil
}

// readFiles checks files and returns the documents among them.
func readFiles(dir *os.Root, files []File) (map[string][]byte, error) {
	docs := make(map[string][]byte, len(files))
	for _, f := range files {
		data, err := readListed(dir, f)
		if err != nil {
			return nil, err
		}
		docs[f.Path] = data
	}
	return docs, nil
}

// readListed is readChecked for a file that the manifest lists: a missing one is damage.
func readListed(dir *os.Root, f File) ([]byte, error) {
	data, err := readChecked(dir, f)
	if errors.Is(err, fs.ErrNotExist) {
		err = &DamageError{Path: f.Path, Reason: "missing"}
	}
	return data, err
}

// large says that a file grows with the trials, so that it is never held in memory.
func large(name string) bool {
	return name == trialsName || name == rowsName || strings.HasPrefix(name, trialset.Root+"/")
}

func readChecked(dir *os.Root, f File) (data []byte, err error) {
	var is File
	if large(f.Path) {
		is, err = hashFile(dir, f.Path)
	} else {
		data, err = readDocument(dir, f.Path)
		is = File{SHA256: content.Digest(data), Bytes: int64(len(data))}
	}
	if err != nil {
		return nil, err
	}
	if is.Bytes != f.Bytes {
		return nil, &DamageError{Path: f.Path, Reason: fmt.Sprintf("%d bytes, %d in the manifest", is.Bytes, f.Bytes)}
	}
	if is.SHA256 != f.SHA256 {
		return nil, &DamageError{Path: f.Path, Reason: "hash differs from the manifest"}
	}
	return data, nil
}

// assemble decodes the documents of a snapshot. read returns those of boards, and may be called
// by many goroutines; nil reads them from docs.
func assemble(id string, m Manifest, docs map[string][]byte, read func(name string) (data []byte, ok bool, err error)) (*Snapshot, error) {
	s := &Snapshot{ID: id, Manifest: m, boards: map[string]int{}}
	var refs refList
	var items itemList
	if err := errors.Join(decode(docs, refsName, &refs), decode(docs, categoriesName, &items)); err != nil {
		return nil, err
	}
	s.Refs, s.items = refs.Refs, items.Categories
	var err error
	if s.field, err = loadFieldwork(m, docs); err != nil {
		return nil, err
	}
	s.Boards = make([]analytics.Board, len(s.items))
	take := func(name string, v any) error {
		if read == nil {
			return decode(docs, name, v)
		}
		data, ok, err := read(name)
		if err != nil {
			return err
		}
		if !ok {
			return decode(nil, name, v)
		}
		return decode(map[string][]byte{name: data}, name, v)
	}
	errs := make([]error, len(s.items))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(s.items), runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.items); i = int(next.Add(1)) - 1 {
				b, err := assembleBoard(s.items[i].Slug, m, take)
				if read != nil { // to be kept: a copy shares the bytes of its names
					b = b.WithBase("")
				}
				s.Boards[i], errs[i] = b, err
			}
		})
	}
	wg.Wait()
	for i, item := range s.items {
		if errs[i] != nil {
			return nil, errs[i]
		}
		s.boards[item.Slug] = i
	}
	return s, nil
}

// assembleBoard decodes a board with its reports and prompts.
func assembleBoard(slug string, m Manifest, take func(name string, v any) error) (b analytics.Board, err error) {
	if err := take(boardPath(slug), &b); err != nil {
		return b, err
	}
	for j := range b.Tools {
		var r analytics.Report
		if err := take(reportPath(slug, b.Tools[j].Slug), &r); err != nil {
			return b, err
		}
		b.Tools[j].BeatenBy, b.Tools[j].Breakdown = r.BeatenBy, r.Breakdown
	}
	if m.SchemaVersion >= 2 {
		var list promptList
		if err := take(promptsPath(slug), &list); err != nil {
			return b, err
		}
		b.Prompts = list.Prompts
	}
	return b, nil
}

func decode(docs map[string][]byte, name string, v any) error {
	data, ok := docs[name]
	if !ok {
		return &DamageError{Path: name, Reason: "not listed in the manifest"}
	}
	if tooMany(data) {
		return &DamageError{Path: name, Reason: fmt.Sprintf("more than %d values", maxValues)}
	}
	if err := json.Unmarshal(data, v); err != nil {
		return &DamageError{Path: name, Reason: err.Error()}
	}
	return nil
}
