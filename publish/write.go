package publish

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

// write writes the snapshot into a staging folder and adds it to the place from there.
func (in Input) write(ctx context.Context, m Manifest, docs map[string][]byte) (_ Manifest, id string, err error) {
	defer func() { err = in.Place.advise(err) }()
	staging, err := in.Place.staging()
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	tmp := filepath.Join(staging, "snapshot")
	for name, data := range docs {
		if err := writeFile(filepath.Join(tmp, filepath.FromSlash(name)), data); err != nil {
			return m, "", err
		}
		m.Files = append(m.Files, File{Path: name, SHA256: content.Digest(data), Bytes: int64(len(data))})
	}
	trials, err := in.writeTrials(ctx, tmp)
	if err != nil {
		return m, "", err
	}
	m.Files = append(m.Files, trials)
	if err := in.writeTraces(ctx, tmp, &m); err != nil {
		return m, "", err
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	data, err := content.JSON(m)
	if err != nil {
		return m, "", err
	}
	if err := errors.Join(writeFile(filepath.Join(tmp, manifestName), data), in.sign(tmp, data)); err != nil {
		return m, "", err
	}
	id = snapshotID(data)
	if err := os.Rename(tmp, filepath.Join(staging, id)); err != nil {
		return m, "", err
	}
	return m, id, in.Place.add(ctx, storage.Folder(staging), id, m)
}

func (in Input) writeTrials(ctx context.Context, dir string) (File, error) {
	name := filepath.Join(dir, trialsName)
	if err := in.Store.WriteParquet(ctx, name, in.ids()); err != nil {
		return File{}, err
	}
	return content.HashFile(name)
}

func (in Input) sign(dir string, manifest []byte) error {
	if in.SignKey == nil {
		return nil
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(in.SignKey, manifest)) + "\n"
	return writeFile(filepath.Join(dir, signatureName), []byte(sig))
}

// add puts a snapshot of a staging folder into the place. What is there already stays, if
// it is not damaged; only the signature is replaced.
func (p Place) add(ctx context.Context, staging storage.Folder, id string, m Manifest) error {
	manifest, err := content.JSON(m)
	if err != nil {
		return err
	}
	folder, remote := p.Folder()
	if remote {
		if err := p.upload(ctx, staging, id, m, manifest); err != nil {
			return err
		}
	}
	if moved, err := move(folder, staging, id); moved || err != nil {
		return err
	}
	if remote {
		return p.copy(ctx, folder, staging, id, manifest)
	}
	return p.upload(ctx, staging, id, m, manifest)
}

// upload copies a snapshot of a staging folder into the place.
func (p Place) upload(ctx context.Context, staging storage.Folder, id string, m Manifest, manifest []byte) error {
	extra, err := p.extra(ctx, id, m)
	if err != nil {
		return err
	}
	for _, name := range extra {
		if err := p.Store.Remove(ctx, path.Join(id, name)); err != nil {
			return err
		}
	}
	if err := copySignature(ctx, p.Store, staging, id); err != nil {
		return err
	}
	return p.copy(ctx, p.Store, staging, id, manifest)
}

// move moves a snapshot of a staging folder into its folder, all files at once. It reports
// false if the folder has files of the snapshot.
func move(folder, staging storage.Folder, id string) (bool, error) {
	from := filepath.Join(string(staging), id)
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return content.Sync(name)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
	})
	if err == nil {
		err = os.Rename(from, filepath.Join(string(folder), id))
	}
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err == nil {
		err = content.Sync(string(folder))
	}
	return err == nil, err
}

// advise adds advice to an error of writing.
func (p Place) advise(err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write a snapshot under %s: %w", p.Store, err)
	switch {
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "No space left on device"):
		return fmt.Errorf("%w; free some space and publish again; readers see whole snapshots only", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; choose a directory that this user may write to", err)
	}
	return err
}

// staging creates a folder for a snapshot that is being made.
func (p Place) staging() (string, error) {
	folder, _ := p.Folder()
	return folder.Staging()
}
