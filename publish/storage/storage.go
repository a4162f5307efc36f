// Package storage holds published files in one place: a folder or a bucket. Files have
// slash-separated names below the place and are written whole, so that a reader never
// sees half a file.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// ErrChanged means that a file is not the one that the caller read, so that Swap left it
// as it is.
var ErrChanged = errors.New("the file was changed by another writer")

// MaxSmall limits the files that are held in memory, as Swap writes and ReadAll reads them,
// in bytes.
const MaxSmall = 64 << 20

// An Opener reads files. It is all that a reader of a foreign place needs.
type Opener interface {
	// Open opens a file. The error is fs.ErrNotExist for a missing one. The caller closes
	// the file.
	Open(ctx context.Context, name string) (File, error)
}

// A Store is a place for files. Its methods are safe for concurrent use, also by several
// processes.
type Store interface {
	Opener
	// Put writes a new file. The error is fs.ErrExist if the name is taken; the file then
	// stays as it is.
	Put(ctx context.Context, name string, body io.ReadSeeker) error
	// Swap replaces a small file whose tag is still etag, or creates it if etag is empty.
	// The error is ErrChanged if it has another tag. It returns the new tag.
	Swap(ctx context.Context, name string, data []byte, etag string) (string, error)
	// List returns the files whose names begin with prefix, sorted by name.
	List(ctx context.Context, prefix string) ([]Info, error)
	// Remove deletes a file. A missing file is no error.
	Remove(ctx context.Context, name string) error
	// String is the address of the place, without secrets.
	String() string
}

// A File is open for reading.
type File interface {
	io.ReadSeekCloser
	// Info describes the file as it was opened.
	Info() Info
}

// An Info describes a file.
type Info struct {
	Name string
	Size int64
	// ETag changes with the content. It is not a digest.
	ETag    string
	ModTime time.Time
}

// ErrUnchanged means that a file still has the tag that the caller knows.
var ErrUnchanged = errors.New("the file has not changed")

// ReadAll reads a small file and returns it with its tag.
func ReadAll(ctx context.Context, from Opener, name string) (data []byte, etag string, err error) {
	return ReadChanged(ctx, from, name, "")
}

// ReadChanged is ReadAll, but fails with ErrUnchanged if the file still has a tag, which may
// be empty. A bucket sends a conditional request.
func ReadChanged(ctx context.Context, from Opener, name, known string) (data []byte, etag string, err error) {
	var f File
	if b, ok := from.(*Bucket); ok {
		f, err = b.openChanged(ctx, name, known)
	} else {
		f, err = from.Open(ctx, name)
	}
	if err != nil {
		return nil, "", err
	}
	if known != "" && f.Info().ETag == known {
		return nil, known, errors.Join(ErrUnchanged, f.Close())
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, MaxSmall+1))
	if err == nil && len(data) > MaxSmall {
		err = fmt.Errorf("%s is larger than %d MiB", name, MaxSmall>>20)
	}
	return data, f.Info().ETag, err
}

// valid refuses names that could leave the place.
func valid(op, name string) error {
	if !fs.ValidPath(name) || name == "." {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}
