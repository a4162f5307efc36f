package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Web reads the published files of a server: a snapshot's files are below
// /snapshots/ID/, the id of the current snapshot is at /snapshots/current, and the log is
// below /log/.
type Web struct {
	base   *url.URL
	client *http.Client
}

// The limits of a Web.
const (
	maxWebFile    = 8 << 30 // bytes
	headerTimeout = 30 * time.Second
	bodyTimeout   = 30 * time.Minute
)

// NewWeb returns the files of the server at an http or https address, over a transport.
func NewWeb(address string, transport http.RoundTripper) (*Web, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("the address of a server is https://HOST or http://HOST (got %q)", address)
	}
	w := &Web{base: u}
	w.client = &http.Client{Transport: transport, Timeout: bodyTimeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("more than 5 redirects")
		}
		if r.URL.Host != u.Host || r.URL.Scheme != u.Scheme {
			return fmt.Errorf("redirect to another host: %s", r.URL.Redacted())
		}
		return nil
	}}
	return w, nil
}

// String is the address of the server.
func (w *Web) String() string { return strings.TrimSuffix(w.base.String(), "/") }

func (w *Web) url(name string) string {
	if !strings.HasPrefix(name, "log/") {
		name = "snapshots/" + name
	}
	return w.base.JoinPath(strings.Split(name, "/")...).String()
}

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
	body   io.ReadCloser // nil after a seek
	offset int64
}

// request opens the body at the offset. The first request sets info.
func (f *webFile) request() error {
	ctx, cancel := context.WithCancel(f.ctx)
	timer := time.AfterFunc(headerTimeout, cancel)
	address := f.web.url(f.info.Name)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		cancel()
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
	if late := !timer.Stop(); late && f.ctx.Err() == nil {
		if err == nil {
			_ = res.Body.Close()
		}
		err = fmt.Errorf("no answer within %s", headerTimeout)
	}
	if err != nil {
		cancel()
		return fmt.Errorf("read %s: %w", address, err)
	}
	if err := f.check(res, want); err != nil {
		cancel()
		return errors.Join(fmt.Errorf("read %s: %w", address, err), res.Body.Close())
	}
	f.body = webBody{res.Body, cancel}
	return nil
}

// A webBody ends its request when it is closed.
type webBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b webBody) Close() error {
	b.cancel()
	return b.ReadCloser.Close()
}

func (f *webFile) check(res *http.Response, want int) error {
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone:
		return fs.ErrNotExist
	case res.StatusCode != want:
		return fmt.Errorf("status %s", res.Status)
	case f.offset > 0:
		return nil
	case res.ContentLength > maxWebFile:
		return fmt.Errorf("%d bytes, at most %d are read", res.ContentLength, int64(maxWebFile))
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
