package publish

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/firstpick/firstpick/publish/content"
)

// partial starts the names of directories that are not snapshots: not yet, or
// not any more.
const partial = ".writing-"

// write writes the snapshot next to its place and then moves it there, so that a
// reader sees all of it or nothing.
func (in Input) write(ctx context.Context, m Manifest, docs map[string][]byte) (_ Manifest, _ string, err error) {
	defer func() { err = advise(in.Root, err) }()
	if err := os.MkdirAll(in.Root, 0o755); err != nil {
		return m, "", err
	}
	tmp, err := os.MkdirTemp(in.Root, partial+"*")
	if err != nil {
		return m, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.Chmod(tmp, 0o755); err != nil {
		return m, "", err
	}
	for name, data := range docs {
		if err := writeSynced(filepath.Join(tmp, filepath.FromSlash(name)), data); err != nil {
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
	if err := writeSynced(filepath.Join(tmp, manifestName), data); err != nil {
		return m, "", err
	}
	if err := in.sign(tmp, data); err != nil {
		return m, "", err
	}
	dir, err := in.settle(tmp, snapshotID(data), data)
	return m, dir, err
}

func (in Input) writeTrials(ctx context.Context, dir string) (File, error) {
	name := filepath.Join(dir, trialsName)
	if err := in.Store.WriteParquet(ctx, name, in.ids()); err != nil {
		return File{}, err
	}
	if err := content.Sync(name); err != nil {
		return File{}, err
	}
	return content.HashFile(name)
}

func (in Input) sign(dir string, manifest []byte) error {
	if in.SignKey == nil {
		return nil
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(in.SignKey, manifest)) + "\n"
	return writeSynced(filepath.Join(dir, signatureName), []byte(sig))
}

// settle moves tmp to its place. An existing snapshot is replaced only if it is
// damaged, and gets the new signature.
func (in Input) settle(tmp, id string, manifest []byte) (string, error) {
	dir := filepath.Join(in.Root, id)
	if _, err := os.Lstat(dir); err == nil {
		if _, err := Load(in.Root, id); err == nil {
			return dir, in.resign(dir, manifest)
		}
		aside := filepath.Join(in.Root, partial+"damaged-"+id)
		if err := errors.Join(os.RemoveAll(aside), os.Rename(dir, aside)); err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(aside) }() // Prune removes leftovers
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := syncDirs(tmp); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return "", err
	}
	return dir, content.Sync(in.Root)
}

func (in Input) resign(dir string, manifest []byte) error {
	if in.SignKey == nil {
		return nil
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(in.SignKey, manifest)) + "\n"
	return replaceFile(filepath.Join(dir, signatureName), []byte(sig))
}

// advise adds advice to a disk error.
func advise(root string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "No space left on device"):
		return fmt.Errorf("write a snapshot under %s: %w; free some space and publish again, nothing half-written is left", root, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write a snapshot under %s: %w; choose a directory that this user may write to", root, err)
	default:
		return fmt.Errorf("write a snapshot under %s: %w", root, err)
	}
}
