package bundle_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/storage/s3test"
	reader "github.com/firstpick/firstpick/server/evals/bundle"
)

// TestCopiesOfBundlesAreWhole copies a bundle to a bucket, and from there to a server.
func TestCopiesOfBundlesAreWhole(t *testing.T) {
	s := s3test.Start(t)
	s.Bucket(t, "bundles")
	bucket, err := storage.FromURL("s3://bundles", s3test.Env(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	w := newWorld(t, 1, size{prompts: 3, repeats: 4, text: 200})
	w.in.Root = filepath.Join(root, "ws_1")
	m := write(t, w.in)
	for range 2 { // a worker may do it again
		if err := bundle.Copy(t.Context(), bucket, storage.Folder(root), "ws_1", m.ID); err != nil {
			t.Fatal(err)
		}
	}
	there := t.TempDir()
	if err := bundle.Copy(t.Context(), storage.Folder(there), bucket, "ws_1", m.ID); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, filepath.Join(there, "ws_1"), m.ID); err != nil {
		t.Error(err)
	}
	if err := bundle.Copy(t.Context(), storage.Folder(there), bucket, "ws_2", m.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another workspace: %v", err)
	}
	object := s.Object("bundles", "ws_1/"+m.ID+"/"+format.ScoresName)
	data, err := os.ReadFile(object)
	if err != nil {
		t.Fatal(err)
	}
	data[0] ^= 1
	if err := os.WriteFile(object, data, 0o600); err != nil {
		t.Fatal(err)
	}
	there = t.TempDir()
	var differs *storage.DigestError
	if err := bundle.Copy(t.Context(), storage.Folder(there), bucket, "ws_1", m.ID); !errors.As(err, &differs) {
		t.Errorf("a damaged object: %v", err)
	}
	if _, err := reader.Open(filepath.Join(there, "ws_1"), m.ID); err == nil {
		t.Error("the copy of a damaged bundle opens")
	}
}
