package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/storage"
)

// Copy copies the bundle of a workspace from one place to another, under
// <workspace>/<id>/. It checks every digest; files that are there already stay. Readers see
// the whole bundle or none. The error is fs.ErrNotExist for a missing one.
func Copy(ctx context.Context, to storage.Store, from storage.Opener, workspace, id string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bundle %s of workspace %s: %w", id, workspace, err)
		}
	}()
	name := path.Join(workspace, id, format.ManifestName)
	data, _, err := storage.ReadAll(ctx, from, name)
	if err != nil {
		return err
	}
	var m format.Manifest
	if err := json.Unmarshal(data, &m); err != nil || format.ID(data) != id {
		return errors.Join(errors.New("its manifest is damaged"), err)
	}
	var set []storage.Entry
	for _, f := range m.Files {
		if !fs.ValidPath(f.Path) {
			return fmt.Errorf("its manifest names a file outside: %q", f.Path)
		}
		set = append(set, storage.Entry{Name: path.Join(workspace, id, f.Path), SHA256: f.SHA256, Bytes: f.Bytes})
	}
	return storage.Copy(ctx, to, from, append(set, storage.EntryOf(name, data)))
}
