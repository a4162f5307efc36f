package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync"

	"golang.org/x/sync/errgroup"
)

// concurrency is how many files are copied at once.
const concurrency = 8

// An Entry is a file of a set, with its content.
type Entry struct {
	Name   string
	SHA256 string // 64 hexadecimal digits
	Bytes  int64
}

// A DigestError names a file whose content differs from its entry.
type DigestError struct{ Name, Reason string }

// Error implements error.
func (e *DigestError) Error() string { return e.Name + ": " + e.Reason }

// Copy copies a set of files under their names. What is read must have its digest; what is
// there already is kept if it has, and else replaced. The last entry is the manifest of the
// set: it is written when all others are there, and removed before one of them is replaced.
// So a set with its manifest is complete, also if several processes copy it at once.
func Copy(ctx context.Context, to Store, from Opener, set []Entry) error {
	if len(set) == 0 {
		return nil
	}
	files, manifest := set[:len(set)-1], set[len(set)-1]
	hide := sync.OnceValue(func() error { return to.Remove(ctx, manifest.Name) })
	all, limited := errgroup.WithContext(ctx)
	all.SetLimit(concurrency)
	for _, e := range files {
		all.Go(func() error { return e.copy(limited, to, from, hide) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return manifest.copy(ctx, to, from, hide)
}

func (e Entry) copy(ctx context.Context, to Store, from Opener, hide func() error) error {
	var differs *DigestError
	switch err := e.Check(ctx, to); {
	case err == nil:
		return nil
	case errors.As(err, &differs):
		if err := errors.Join(hide(), to.Remove(ctx, e.Name)); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := from.Open(ctx, e.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return &DigestError{e.Name, "missing"}
	} else if err != nil {
		return err
	}
	for range attempts {
		if err = to.Put(ctx, e.Name, &checked{from: f, entry: e, hash: sha256.New()}); !errors.Is(err, fs.ErrExist) {
			break
		}
		if err = e.Check(ctx, to); !errors.Is(err, fs.ErrNotExist) { // another process has written it
			break
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil { // another one has removed it
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(err, f.Close())
}

// Check reads a file and compares it. The error is fs.ErrNotExist, or a *DigestError.
func (e Entry) Check(ctx context.Context, in Opener) error {
	f, err := in.Open(ctx, e.Name)
	if err != nil {
		return err
	}
	if f.Info().Size != e.Bytes {
		err = &DigestError{e.Name, fmt.Sprintf("%d bytes, %d in the manifest", f.Info().Size, e.Bytes)}
	} else {
		_, err = io.Copy(io.Discard, &checked{from: f, entry: e, hash: sha256.New()})
	}
	return errors.Join(err, f.Close())
}

// EntryOf returns the entry of a small file.
func EntryOf(name string, data []byte) Entry {
	sum := sha256.Sum256(data)
	return Entry{name, hex.EncodeToString(sum[:]), int64(len(data))}
}

// checked reads a file and fails at its end if it is not its entry.
type checked struct {
	from  io.ReadSeeker
	entry Entry
	hash  hash.Hash
	n     int64
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.hash.Write(p[:n])
	c.n += int64(n)
	switch {
	case c.n > c.entry.Bytes, errors.Is(err, io.EOF) && c.n < c.entry.Bytes:
		return n, &DigestError{c.entry.Name, fmt.Sprintf("%d bytes, %d in the manifest", c.n, c.entry.Bytes)}
	case errors.Is(err, io.EOF) && hex.EncodeToString(c.hash.Sum(nil)) != c.entry.SHA256:
		return n, &DigestError{c.entry.Name, "hash differs from the manifest"}
	}
	return n, err
}

// Seek implements io.Seeker, for the start only.
func (c *checked) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, fs.ErrInvalid
	}
	c.hash.Reset()
	c.n = 0
	return c.from.Seek(0, io.SeekStart)
}
