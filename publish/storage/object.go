package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// An object is open for reading. It is one version of the file: if the file is replaced
// meanwhile, reading on fails with ErrChanged. A broken connection is resumed.
type object struct {
	bucket *Bucket
	ctx    context.Context
	info   Info

	at     int64
	body   io.ReadCloser // at the place at; nil before the next request
	cancel func()
	broken int // connections so far
}

// Open implements Opener. The context also bounds the reading of the file.
func (b *Bucket) Open(ctx context.Context, name string) (File, error) {
	return b.openChanged(ctx, name, "")
}

// openChanged is Open, but fails with ErrUnchanged if the file has the tag.
func (b *Bucket) openChanged(ctx context.Context, name, etag string) (File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	o := &object{bucket: b, ctx: ctx, info: Info{Name: name}}
	if err := o.request(etag); err != nil {
		return nil, err
	}
	return o, nil
}

// request opens the body at the place. Unless, if not empty, is the tag of a version that
// the caller has.
func (o *object) request(unless string) error {
	b := o.bucket
	return b.try(o.ctx, "open", o.info.Name, 0, func(limited context.Context) error {
		var opts minio.GetObjectOptions
		switch {
		case unless != "":
			opts.Set("If-None-Match", `"`+unless+`"`)
		case o.info.ETag != "":
			opts.Set("If-Match", `"`+o.info.ETag+`"`)
		}
		if o.at > 0 {
			opts.Set("Range", fmt.Sprintf("bytes=%d-", o.at))
		}
		ctx, cancel := context.WithCancel(o.ctx) // it outlives the request for the headers
		stop := context.AfterFunc(limited, cancel)
		body, info, _, err := b.client.GetObject(ctx, b.name, b.prefix+o.info.Name, opts)
		if err == nil && !stop() {
			err = errors.Join(limited.Err(), body.Close())
		}
		if err != nil {
			cancel()
			if limited.Err() != nil {
				return limited.Err()
			}
			if r, ok := response(err); ok && r.StatusCode == http.StatusNotModified {
				return ErrUnchanged
			}
			return err
		}
		if o.at == 0 {
			o.info.Size, o.info.ETag, o.info.ModTime = info.Size, info.ETag, info.LastModified
		}
		o.body, o.cancel = body, cancel
		return nil
	})
}

// Info implements File.
func (o *object) Info() Info { return o.info }

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if o.at >= o.info.Size {
		return 0, io.EOF
	}
	if o.body == nil {
		if err := o.request(""); err != nil {
			return 0, err
		}
	}
	idle := time.AfterFunc(o.bucket.timeout, o.cancel)
	n, err := o.body.Read(p)
	idle.Stop()
	o.at += int64(n)
	if err == nil || o.at >= o.info.Size {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	o.drop()
	if o.broken++; o.broken > attempts+int(o.at>>23) || o.ctx.Err() != nil {
		return n, o.bucket.explain("read", o.info.Name, errors.Join(o.ctx.Err(), err))
	}
	return n, nil // the next call resumes
}

// Seek implements io.Seeker. The next Read sends a request for the place.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.info.Size
	}
	if offset < 0 {
		return 0, &fs.PathError{Op: "seek", Path: o.bucket.path(o.info.Name), Err: fs.ErrInvalid}
	}
	if offset != o.at {
		o.drop()
	}
	o.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.drop()
	return nil
}

func (o *object) drop() {
	if o.body != nil {
		_ = o.body.Close() // what was read is there
		o.cancel()
	}
	o.body = nil
}
