package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Bucket is a Store below a prefix of a bucket with the S3 API. The server must honour
// If-Match and If-None-Match when it writes. A file is one PUT of at most 5 GiB.
//
// Requests that fail for a passing reason (no answer, 429, 5xx) are sent again, at most
// three times. A write marks the object with a random text. If an answer was lost and the
// next attempt finds the name taken, that mark decides: with the own mark, the first
// attempt has won; with another one it has lost, or was replaced since.
type Bucket struct {
	client  *minio.Core
	name    string
	prefix  string        // with a slash at its end, or empty
	asKey   func() string // the id of the access key, for errors
	timeout time.Duration
	sleep   func(context.Context, time.Duration) error
}

const (
	attempts   = 4
	backoff    = 200 * time.Millisecond // doubled after each attempt
	slowest    = 256 << 10              // bytes a second that an upload is given
	writerMark = "Writer"               // the metadata of an object that names its write
)

// String implements Store.
func (b *Bucket) String() string { return strings.TrimSuffix("s3://"+b.name+"/"+b.prefix, "/") }

// Put implements Store. The body is read twice: its digest is part of the request.
func (b *Bucket) Put(ctx context.Context, name string, body io.ReadSeeker) error {
	if err := valid("put", name); err != nil {
		return err
	}
	_, err := b.write(ctx, "put", name, body, "")
	if errors.Is(err, ErrChanged) {
		return &fs.PathError{Op: "put", Path: b.path(name), Err: fs.ErrExist}
	}
	return err
}

// Swap implements Store.
func (b *Bucket) Swap(ctx context.Context, name string, data []byte, etag string) (string, error) {
	if err := valid("swap", name); err != nil {
		return "", err
	}
	return b.write(ctx, "swap", name, bytes.NewReader(data), etag)
}

// write writes a file if its tag is etag, or if it is missing and etag is empty.
func (b *Bucket) write(ctx context.Context, op, name string, body io.ReadSeeker, etag string) (tag string, err error) {
	digest := sha256.New()
	size, err := io.Copy(digest, body)
	if err != nil {
		return "", err
	}
	mark := rand.Text()
	opts := minio.PutObjectOptions{UserMetadata: map[string]string{writerMark: mark}, DisableContentSha256: true} // the digest is given
	if etag == "" {
		opts.SetMatchETagExcept("*")
	} else {
		opts.SetMatchETag(etag)
	}
	lost := false // an answer: the file may be written
	err = b.try(ctx, op, name, size, func(ctx context.Context) error {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		info, err := b.client.PutObject(ctx, b.name, b.prefix+name, struct{ io.ReadSeeker }{body}, size, "", hex.EncodeToString(digest.Sum(nil)), opts)
		tag = info.ETag
		if conflicts(err) && lost {
			ours, again := b.marked(ctx, name, mark, &tag)
			if ours || again != nil {
				err = again
			}
		}
		lost = lost || uncertain(err)
		return err
	})
	if err == nil {
		return tag, nil
	}
	if !lost || ctx.Err() != nil || errors.Is(err, ErrChanged) {
		return "", err
	}
	ours := false // the last answer may be lost, too
	again := b.try(ctx, "open", name, 0, func(ctx context.Context) (err error) {
		ours, err = b.marked(ctx, name, mark, &tag)
		return err
	})
	if ours {
		return tag, nil
	}
	return "", errors.Join(err, again)
}

// marked reports whether a file carries the mark of a write, and sets its tag.
func (b *Bucket) marked(ctx context.Context, name, mark string, tag *string) (bool, error) {
	info, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if r, ok := response(err); ok && r.Code == minio.NoSuchKey {
		return false, nil
	}
	*tag = info.ETag
	return err == nil && info.UserMetadata[writerMark] == mark, err
}

// List implements Store.
func (b *Bucket) List(ctx context.Context, prefix string) (out []Info, err error) {
	err = b.try(ctx, "list", prefix, 0, func(ctx context.Context) error {
		out = nil
		for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				return o.Err
			}
			name := strings.TrimPrefix(o.Key, b.prefix)
			if fs.ValidPath(name) { // not the marks of folders that some programs write
				out = append(out, Info{Name: name, Size: o.Size, ETag: strings.Trim(o.ETag, `"`), ModTime: o.LastModified})
			}
		}
		return ctx.Err()
	})
	sorting.Func(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// Remove implements Store.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := valid("remove", name); err != nil {
		return err
	}
	err := b.try(ctx, "remove", name, 0, func(ctx context.Context) error {
		return b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// try calls a function until it succeeds or fails for good, and adds advice to its error.
// Each call has the time-out of the bucket, and more for an upload of size bytes.
func (b *Bucket) try(ctx context.Context, op, name string, size int64, attempt func(context.Context) error) (err error) {
	for n := range attempts {
		if n > 0 && b.sleep(ctx, backoff<<(n-1)) != nil {
			break
		}
		limited, cancel := context.WithTimeout(ctx, b.timeout+time.Duration(size/slowest)*time.Second)
		err = attempt(limited)
		cancel()
		if err == nil || ctx.Err() != nil || !transient(err) {
			break
		}
	}
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		err = ctx.Err()
	}
	return b.explain(op, name, err)
}

func (b *Bucket) path(name string) string { return b.String() + "/" + name }

// conflicts reports that a condition of a request was not met.
func conflicts(err error) bool {
	r, ok := response(err)
	return ok && (r.StatusCode == http.StatusPreconditionFailed || r.Code == minio.NoSuchKey)
}

// uncertain reports that a request may have had its effect.
func uncertain(err error) bool { return transient(err) && !isBusy(err) }

// isBusy reports that the server has done nothing, because of another write at the same time.
func isBusy(err error) bool {
	r, ok := response(err)
	return ok && r.StatusCode == http.StatusConflict && (r.Code == "ConditionalRequestConflict" || r.Code == "OperationAborted")
}

// response returns the answer of the server, if the error is one.
func response(err error) (r minio.ErrorResponse, ok bool) { return r, errors.As(err, &r) }
