package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"time"
)

// Open implements Opener. Seeking makes another request.
func (w *Web) Open(ctx context.Context, name string) (File, error) {
	if err := valid("open", name); err != nil {
		return nil, err
	}
	f := &webFile{ctx: ctx, web: w, info: Info{Name: name}}
	if err := f.request(); err != nil {
		return nil, err
	}
	return f, nil
}

// A webFile reads the body of a response. Its next byte is at offset.
type webFile struct {
	ctx    context.Context //nolint:containedctx // an io.Reader has no contexts; it lives as long as the caller's call
	web    *Web
	info   Info
	body   *webBody // nil after a seek
	offset int64
	failed int // requests, for a passing reason
}

// request opens the body at the offset. The first request sets info.
func (f *webFile) request() error {
	for {
		err := f.once()
		if err == nil || !f.again(err) {
			return err
		}
		wait := backoff << (f.failed - 1)
		if busy := (statusError{}); errors.As(err, &busy) {
			wait = max(wait, min(busy.after, idleTimeout))
		}
		if late := sleep(f.ctx, wait); late != nil {
			return late
		}
	}
}

// again counts a failure, and reports whether the next request may succeed.
func (f *webFile) again(err error) bool {
	f.failed++
	status, refused := statusError{}, refusal("")
	switch {
	case f.failed >= attempts, f.ctx.Err() != nil, errors.Is(err, errIdle), errors.Is(err, errSlow), errors.Is(err, fs.ErrNotExist), errors.As(err, &refused):
		return false
	case errors.As(err, &status):
		return status.code == http.StatusTooManyRequests || status.code >= 500 && status.code != http.StatusNotImplemented
	}
	return transient(err)
}

func (f *webFile) once() error {
	slow, stop := context.WithTimeoutCause(f.ctx, f.web.end().Sub(f.web.now()), errSlow)
	ctx, cancel := context.WithCancelCause(slow)
	b := &webBody{ctx: ctx, idle: time.AfterFunc(idleTimeout, func() { cancel(errIdle) }), cancel: func() { cancel(nil); stop() }}
	address := f.web.url(f.info.Name)
	err := f.open(b, address)
	b.idle.Stop()
	if err == nil {
		f.body = b
		return nil
	}
	err = fmt.Errorf("read %s: %w", address, b.cause(err))
	return errors.Join(err, b.Close())
}

// open sends the request.
func (f *webFile) open(b *webBody, address string) error {
	req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", "firstpick-verify")
	req.Header.Set("Accept-Encoding", "identity") // the bytes as they are published
	want := http.StatusOK
	if f.offset > 0 {
		want = http.StatusPartialContent
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.offset))
		req.Header.Set("If-Range", f.info.ETag)
	}
	res, err := f.web.client.Do(req) //nolint:bodyclose // webBody closes it
	if err != nil {
		return err
	}
	b.body = res.Body
	return f.check(res, want)
}

func (f *webFile) check(res *http.Response, want int) error {
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return fs.ErrNotExist
	case res.StatusCode != want:
		after, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0 for a date
		return statusError{res.StatusCode, res.Status, time.Duration(min(max(after, 0), 3600)) * time.Second}
	case f.offset > 0:
		return nil
	case res.ContentLength > maxWebFile:
		return refusal(fmt.Sprintf("%d bytes, at most %d are read", res.ContentLength, int64(maxWebFile)))
	}
	f.info.Size, f.info.ETag = res.ContentLength, res.Header.Get("ETag")
	f.info.ModTime, _ = http.ParseTime(res.Header.Get("Last-Modified"))
	return nil
}

// Info implements File. Size is -1 where the server does not say it.
func (f *webFile) Info() Info { return f.info }

// Read implements io.Reader.
func (f *webFile) Read(p []byte) (int, error) {
	if f.body == nil {
		if f.offset == f.info.Size {
			return 0, io.EOF
		}
		if err := f.request(); err != nil {
			return 0, err
		}
	}
	n, err := f.body.Read(p)
	if f.offset += int64(n); f.offset > maxWebFile {
		return n, fmt.Errorf("%s is larger than %s bytes", f.info.Name, strconv.FormatInt(maxWebFile, 10))
	}
	if err != nil && !errors.Is(err, io.EOF) && f.info.ETag != "" && f.again(err) {
		return n, f.Close() // the next call asks for the rest
	}
	return n, err
}

// Seek implements io.Seeker.
func (f *webFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.info.Size
	}
	if offset < 0 || f.info.Size >= 0 && offset > f.info.Size || whence == io.SeekEnd && f.info.Size < 0 {
		return f.offset, fmt.Errorf("seek %s: %w", f.info.Name, fs.ErrInvalid)
	}
	if offset != f.offset {
		if err := f.Close(); err != nil {
			return f.offset, err
		}
		f.offset = offset
	}
	return offset, nil
}

// Close implements io.Closer.
func (f *webFile) Close() error {
	if f.body == nil {
		return nil
	}
	body := f.body
	f.body = nil
	return body.Close()
}
