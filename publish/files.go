package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/storage"
)

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
func hashFile(root *os.Root, name string) (_ File, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return content.Hash(f)
}

// readDocument reads a file that must be small.
func readDocument(root *os.Root, name string) (data []byte, err error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	buf := bytes.NewBuffer(make([]byte, 0, min(max(0, info.Size()), storage.MaxSmall)+bytes.MinRead))
	_, err = buf.ReadFrom(io.LimitReader(f, storage.MaxSmall+1))
	data = buf.Bytes()
	if err == nil && len(data) > storage.MaxSmall {
		return nil, &DamageError{Path: name, Reason: fmt.Sprintf("larger than %d MiB", storage.MaxSmall>>20)}
	}
	return data, err
}
