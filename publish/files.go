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
)

// maxDocument limits the memory of a document: the largest board of a full
// catalogue is far below a megabyte.
const maxDocument = 64 << 20

// writeFile writes a new file, with its directories.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

func removeIfThere(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
