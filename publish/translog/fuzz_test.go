package translog_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

// sample is a place with a log of three entries.
func sample(t testing.TB) (dir string) {
	dir = t.TempDir()
	l := translog.Log{Store: storage.Folder(dir), Signer: key('k')}
	if _, err := l.Append(t.Context(), erratum("one"), erratum("two"), erratum("three")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sampleFile(t testing.TB, dir, name string) []byte {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// FuzzCheckpoint: no bytes but signed ones are a head.
func FuzzCheckpoint(f *testing.F) {
	valid := sampleFile(f, sample(f), "log/checkpoint")
	f.Add(valid)
	want, err := translog.ParseCheckpoint(valid)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := translog.ParseCheckpoint(data); err == nil && h.Key.Equal(want.Key) && (h.Size != want.Size || h.Hash != want.Hash) {
			t.Errorf("a head that nobody signed: %s", h)
		}
	})
}

// FuzzEntry: parsing does not panic, and needs a kind.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"kind":"erratum","at":"2026-01-01T00:00:00Z","snapshot":"s","text":"t"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, err := translog.ParseEntry(data); err == nil && e.Kind == "" {
			t.Error("an entry without a kind")
		}
	})
}

// FuzzTiles: whatever the tiles and bundles hold, a reader gets the signed entries or an
// error.
func FuzzTiles(f *testing.F) {
	dir := sample(f)
	f.Add(sampleFile(f, dir, "log/tile/0/000.p/3"), sampleFile(f, dir, "log/tile/entries/000.p/3"))
	checkpoint := sampleFile(f, dir, "log/checkpoint")
	f.Fuzz(func(t *testing.T, tile, entries []byte) {
		from := files{"log/checkpoint": checkpoint, "log/tile/0/000.p/3": tile, "log/tile/entries/000.p/3": entries}
		v, err := translog.Open(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Entries(t.Context(), 0, 3)
		if err == nil && (len(got) != 3 || got[0].Text != "one" || got[2].Text != "three") {
			t.Errorf("entries that nobody signed: %+v", got)
		}
	})
}

// FuzzProofs: no other head has a proof.
func FuzzProofs(f *testing.F) {
	v, err := translog.Open(f.Context(), storage.Folder(sample(f)))
	if err != nil {
		f.Fatal(err)
	}
	tree, err := v.Consistency(f.Context(), 2)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(flat(tree))
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []tlog.Hash
		for ; len(data) >= tlog.HashSize; data = data[tlog.HashSize:] {
			list = append(list, tlog.Hash(data[:tlog.HashSize]))
		}
		if tlog.CheckTree(list, v.Size, v.Hash, 2, tlog.RecordHash([]byte("leaf"))) == nil {
			t.Error("a proof of a head that never was")
		}
	})
}

func flat(hashes []tlog.Hash) (out []byte) {
	for _, h := range hashes {
		out = append(out, h[:]...)
	}
	return out
}
