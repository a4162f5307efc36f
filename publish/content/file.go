package content

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is one file of a published folder, as manifests list it.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// A Writer writes a new file from beginning to end and hashes it.
type Writer struct {
	f   *os.File
	sum hash.Hash
	n   int64
}

// Create makes a new file. A file of that name is an error.
func Create(path string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	return &Writer{f: f, sum: sha256.New()}, err
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.n += int64(n)
	_, _ = w.sum.Write(p[:n]) // never fails
	return n, err
}

// Len is how many bytes were written.
func (w *Writer) Len() int64 { return w.n }

// Close makes the file survive a crash and describes it; its path is the name alone.
func (w *Writer) Close() (File, error) {
	file := File{Path: filepath.Base(w.f.Name()), SHA256: hex.EncodeToString(w.sum.Sum(nil)), Bytes: w.n}
	return file, errors.Join(w.f.Sync(), w.f.Close())
}

// WriteFile writes a new file that survives a crash.
func WriteFile(path string, data []byte) (File, error) {
	w, err := Create(path)
	if err != nil {
		return File{}, err
	}
	_, err = w.Write(data)
	file, closeErr := w.Close()
	return file, errors.Join(err, closeErr)
}

// HashFile describes a file that is there, without holding it in memory.
func HashFile(path string) (_ File, err error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	file, err := Hash(f)
	file.Path = filepath.Base(path)
	return file, err
}

// Hash describes what is left to read, without a path.
func Hash(r io.Reader) (File, error) {
	h := sha256.New()
	n, err := io.Copy(h, r)
	return File{SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, err
}

// Open opens a regular file below a folder and describes it. A link or a device is
// fs.ErrNotExist: opening one could leave the folder, or block for ever.
func Open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil { // another file may have replaced it
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
