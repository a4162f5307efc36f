package storage_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/storage/s3test"
)

// A folder behaves as the interface says. stores lists every kind of place.
func stores(t *testing.T) map[string]storage.Store {
	return map[string]storage.Store{
		"folder": storage.Folder(filepath.Join(t.TempDir(), "not", "there")),
		"bucket": bucketOf(t, s3test.Start(t), ""),
	}
}

// bucketOf returns a new bucket with a prefix, behind a proxy if its endpoint is given.
func bucketOf(t *testing.T, s *s3test.Server, endpoint string) storage.Store {
	t.Helper()
	s.Bucket(t, "results")
	b, err := storage.FromURL("s3://results/some/prefix", s3test.Env(cmp.Or(endpoint, s.URL)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStore(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			if got, err := s.List(ctx, ""); err != nil || len(got) != 0 {
				t.Errorf("an empty place lists %v, %v", got, err)
			}
			if _, err := s.Open(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("open a missing file: %v", err)
			}
			for _, name := range []string{"a/b", "a/c", "b"} {
				if err := s.Put(ctx, name, strings.NewReader("1 "+name)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Put(ctx, "a/b", strings.NewReader("2")); !errors.Is(err, fs.ErrExist) {
				t.Errorf("put again: %v", err)
			}
			if data, _, err := storage.ReadAll(ctx, s, "a/b"); err != nil || string(data) != "1 a/b" {
				t.Errorf("%q, %v", data, err)
			}
			if diff := gocmp.Diff([]string{"a/b", "a/c"}, names(t, s, "a/")); diff != "" {
				t.Error(diff)
			}
			for range 2 {
				if err := s.Remove(ctx, "a/b"); err != nil {
					t.Error(err)
				}
			}
			if diff := gocmp.Diff([]string{"a/c", "b"}, names(t, s, "")); diff != "" {
				t.Error(diff)
			}
			for _, name := range []string{"", ".", "../x", "/x", "a/../../x", "a//b"} {
				_, openErr := s.Open(ctx, name)
				_, swapErr := s.Swap(ctx, name, nil, "")
				for _, err := range []error{openErr, swapErr, s.Put(ctx, name, strings.NewReader("")), s.Remove(ctx, name)} {
					if !errors.Is(err, fs.ErrInvalid) {
						t.Errorf("name %q: %v", name, err)
					}
				}
			}
		})
	}
}

func names(t *testing.T, s storage.Store, prefix string) (out []string) {
	t.Helper()
	list, err := s.List(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		out = append(out, i.Name)
	}
	return out
}

// Of writers that saw the same content, one wins.
func TestSwapHasOneWinner(t *testing.T) {
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			etag, err := s.Swap(t.Context(), "current", []byte("0"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Swap(t.Context(), "current", []byte("x"), ""); !errors.Is(err, storage.ErrChanged) {
				t.Errorf("create what exists: %v", err)
			}
			var won atomic.Int32
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					switch _, err := s.Swap(t.Context(), "current", []byte("1"), etag); {
					case err == nil:
						won.Add(1)
					case !errors.Is(err, storage.ErrChanged):
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Errorf("%d writers won", won.Load())
			}
			data, now, err := storage.ReadAll(t.Context(), s, "current")
			if err != nil || string(data) != "1" || now == etag {
				t.Errorf("%q, tag %s, %v", data, now, err)
			}
		})
	}
}

// A link out of the folder is not followed.
func TestFolderIsConfined(t *testing.T) {
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("x"), 0o600), os.Symlink(secret, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	if f, err := storage.Folder(dir).Open(t.Context(), "link"); err == nil {
		t.Errorf("opened %+v", f.Info())
	}
}

// TestThousandRaces lets two publishers swap the same file a thousand times.
func TestThousandRaces(t *testing.T) {
	t.Parallel()
	const files, rounds = 20, 50
	for kind, s := range stores(t) {
		t.Run(kind, func(t *testing.T) {
			var all sync.WaitGroup
			for file := range files {
				all.Go(func() { race(t, s, fmt.Sprintf("%d/current", file), rounds) })
			}
			all.Wait()
		})
	}
}

// race lets two writers swap a file in rounds. Both know the tag of the round before.
func race(t *testing.T, s storage.Store, name string, rounds int) {
	etag := ""
	for round := range rounds {
		var tags [2]string
		var errs [2]error
		var wg sync.WaitGroup
		for writer := range 2 {
			wg.Go(func() {
				tags[writer], errs[writer] = s.Swap(t.Context(), name, fmt.Appendf(nil, "%d %d", round, writer), etag)
			})
		}
		wg.Wait()
		winner := slices.Index(errs[:], nil)
		if winner < 0 || !errors.Is(errs[1-winner], storage.ErrChanged) {
			t.Errorf("%s, round %d: %v", name, round, errs)
			return
		}
		data, now, err := storage.ReadAll(t.Context(), s, name)
		if want := fmt.Sprintf("%d %d", round, winner); err != nil || string(data) != want || now != tags[winner] {
			t.Errorf("%s: %q, want %q; tag %s, want %s; %v", name, data, want, now, tags[winner], err)
			return
		}
		etag = now
	}
}
