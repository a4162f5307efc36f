package trialset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/firstpick/firstpick/publish/content"
)

// maxDocument is the most bytes of a file that is read into memory whole.
const maxDocument = 64 << 20

var (
	// ErrNotFound means that the set or the trial does not exist.
	ErrNotFound = errors.New("not found")
	// ErrCursor means that a cursor belongs to another set or filter.
	ErrCursor = errors.New("the cursor belongs to another list; start again without a cursor")
	// ErrClosed means that the set was closed.
	ErrClosed = errors.New("closed")
)

// A DamageError reports the part of a bundle or a snapshot that was altered.
type DamageError struct {
	// Of is what was altered, such as "run bundle". Path is its id and the file.
	Of, Path, Reason string
}

// Error implements error.
func (e *DamageError) Error() string {
	return e.Of + " is damaged: " + e.Path + ": " + e.Reason + "; restore it from a copy, or have it made again"
}

// A File is what a manifest says of a file: path, SHA-256 in hexadecimal, size in bytes.
type File = content.File

// A Handle is an open file.
type Handle interface {
	io.ReaderAt
	io.Closer
}

// A Place is a folder of published files, and what its manifest says of them.
type Place struct {
	// Of is what the files belong to, such as "run bundle"; ID names it. Both are in
	// errors, the ID is in cursors too.
	Of, ID string
	// Open opens a file of the folder and returns its size. Its error is fs.ErrNotExist
	// for a missing file.
	Open  func(name string) (Handle, int64, error)
	Files []File
}

// InRoot returns the Open of the folder dir below root. A link or a device is missing.
func InRoot(root *os.Root, dir string) func(name string) (Handle, int64, error) {
	return func(name string) (Handle, int64, error) {
		f, info, err := content.Open(root, path.Join(dir, name))
		if err != nil {
			return nil, 0, err
		}
		return f, info.Size(), nil
	}
}

// Sized opens a file that has as many bytes as the manifest says.
func (p *Place) Sized(name string) (Handle, File, error) {
	want, size := File{}, int64(0)
	for _, f := range p.Files {
		if f.Path == name {
			want = f
		}
	}
	f, size, err := p.open(name)
	if err == nil && size != want.Bytes {
		err = errors.Join(p.damaged(name, fmt.Sprintf("%d bytes, the manifest says %d", size, want.Bytes)), f.Close())
	}
	if err != nil {
		return nil, want, err
	}
	return f, want, nil
}

// Document reads a file that is kept in memory and checks its hash.
func (p *Place) Document(name string) (_ []byte, err error) {
	f, want, err := p.Sized(name)
	if err != nil {
		return nil, err
	}
	data, err := p.read(name, f, want.Bytes)
	if err == nil && content.Digest(data) != want.SHA256 {
		err = p.otherHash(name)
	}
	return data, err
}

// Read reads a file that the manifest does not list.
func (p *Place) Read(name string) ([]byte, error) {
	f, size, err := p.open(name)
	if err != nil {
		return nil, err
	}
	return p.read(name, f, size)
}

func (p *Place) read(name string, f Handle, size int64) (_ []byte, err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if size > maxDocument {
		return nil, p.damaged(name, fmt.Sprintf("%d bytes; at most %d are read", size, maxDocument))
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, p.fail(err)
	}
	return data, nil
}

func (p *Place) open(name string) (Handle, int64, error) {
	f, size, err := p.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, p.damaged(name, "missing")
	case err != nil:
		return nil, 0, p.fail(err)
	}
	return f, size, nil
}

func (p *Place) otherHash(name string) error {
	return p.damaged(name, "its hash is not the manifest's")
}

func (p *Place) damaged(name, reason string) error {
	return &DamageError{p.Of, p.ID + "/" + name, reason}
}

// fail places an error of the system.
func (p *Place) fail(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		err = ErrClosed
	}
	return fmt.Errorf("%s %s: %w", p.Of, p.ID, err)
}
