package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/publish/content"
)

// maxDocument limits the memory of a document: the largest board of a full
// catalogue is far below a megabyte.
const maxDocument = 64 << 20

// writeSynced writes a new file that survives a crash, with its directories.
func writeSynced(name string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// replaceFile writes name so that a reader sees the old file or the new one.
func replaceFile(name string, data []byte) error {
	tmp := filepath.Join(filepath.Dir(name), partial+filepath.Base(name))
	if err := writeSynced(tmp, data); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	if err := os.Rename(tmp, name); err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return content.Sync(filepath.Dir(name))
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return content.Sync(name)
	})
}

// hashFile reads a file once without holding it in memory.
func hashFile(root *os.Root, name string) (sum string, size int64, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}

// readDocument reads a file that must be small.
func readDocument(root *os.Root, name string) (data []byte, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		return nil, &DamageError{Path: name, Reason: fmt.Sprintf("larger than %d MiB", maxDocument>>20)}
	}
	return data, err
}
