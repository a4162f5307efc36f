package ranges

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gaissmai/bart"
)

//go:embed data/snapshot.json
var snapshot []byte

const fileVersion = 1

// document is the form of the snapshot and of the file.
type document struct {
	Version int                     `json:"version"`
	Lists   map[string]listDocument `json:"lists"`
}

type listDocument struct {
	ETag     string      `json:"etag,omitempty"`
	Modified string      `json:"modified,omitempty"`
	Checked  []interval  `json:"checked"`
	Spans    []spanGroup `json:"spans"`
}

type interval struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// A spanGroup holds the prefixes that were added and removed together.
type spanGroup struct {
	From     time.Time      `json:"from"`
	Until    *time.Time     `json:"until,omitempty"`
	Prefixes []netip.Prefix `json:"prefixes"`
}

// decode reads the lists of a document.
func decode(raw []byte) (map[string]*list, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Version != fileVersion {
		return nil, fmt.Errorf("version %d of ranges is not known", doc.Version)
	}
	lists := map[string]*list{}
	for name, d := range doc.Lists {
		l := &list{etag: d.ETag, modified: d.Modified, table: new(bart.Table[[]period])}
		for _, c := range d.Checked {
			l.checked = append(l.checked, period{c.From, c.To})
		}
		for _, s := range d.Spans {
			p := period{from: s.From}
			if s.Until != nil {
				p.until = *s.Until
			}
			for _, prefix := range s.Prefixes {
				if !prefix.IsValid() {
					return nil, fmt.Errorf("%s: a prefix is none", name)
				}
				prefix = prefix.Masked()
				old, _ := l.table.Get(prefix)
				l.table.Insert(prefix, append(slices.Clone(old), p))
			}
		}
		lists[name] = l
	}
	return lists, nil
}

// encode writes lists as a document, the same bytes for the same lists.
func encode(lists map[string]*list) ([]byte, error) {
	doc := document{Version: fileVersion, Lists: map[string]listDocument{}}
	for name, l := range lists {
		d := listDocument{ETag: l.etag, Modified: l.modified}
		for _, c := range l.checked {
			d.Checked = append(d.Checked, interval{c.from, c.until})
		}
		groups := map[period][]netip.Prefix{}
		for prefix, periods := range l.table.AllSorted() {
			for _, p := range periods {
				groups[p] = append(groups[p], prefix)
			}
		}
		for p, prefixes := range groups {
			g := spanGroup{From: p.from, Prefixes: prefixes}
			if !p.until.IsZero() {
				g.Until = &p.until
			}
			d.Spans = append(d.Spans, g)
		}
		slices.SortFunc(d.Spans, func(a, b spanGroup) int {
			return cmp.Or(a.From.Compare(b.From), a.Prefixes[0].Compare(b.Prefixes[0]))
		})
		doc.Lists[name] = d
	}
	return json.Marshal(doc)
}

// Snapshot returns the lists in the form of data/snapshot.json, without the state of
// conditional requests.
func (s *Set) Snapshot() ([]byte, error) {
	bare := map[string]*list{}
	for name, l := range *s.lists.Load() {
		c := *l
		c.etag, c.modified = "", ""
		bare[name] = &c
	}
	raw, err := encode(bare)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", " "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// load returns the lists of the snapshot and of the file, the later of each.
func load(file string) (map[string]*list, error) {
	lists, err := decode(snapshot)
	if err != nil {
		return nil, fmt.Errorf("embedded ranges: %w", err)
	}
	if file == "" {
		return lists, nil
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return lists, nil
	}
	if err != nil {
		return nil, err
	}
	newer, err := decode(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for name, l := range newer {
		if old := lists[name]; old == nil || !l.asOf().Before(old.asOf()) {
			lists[name] = l
		}
	}
	return lists, nil
}

// save writes the lists so that a reader sees the old file or the new one.
func save(file string, lists map[string]*list) (err error) {
	raw, err := encode(lists)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
