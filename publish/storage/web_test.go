package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/publish/storage"
)

func web(t *testing.T, h http.HandlerFunc) *storage.Web {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w, err := storage.NewWeb(s.URL, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWebReadsFiles(t *testing.T) {
	w := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.URL.Path != "/snapshots/id/a b.json" && r.URL.Path != "/log/checkpoint" {
			http.NotFound(w, r)
			return
		}
		http.ServeContent(w, r, "x", time.Time{}, strings.NewReader("0123456789"))
	})
	f, err := w.Open(t.Context(), "id/a b.json")
	if err != nil {
		t.Fatal(err)
	}
	if f.Info().Size != 10 || f.Info().ETag != `"1"` {
		t.Errorf("%+v", f.Info())
	}
	buf := make([]byte, 3)
	for _, tc := range []struct {
		offset int64
		whence int
		want   string
	}{{4, io.SeekStart, "456"}, {-2, io.SeekCurrent, "567"}, {-3, io.SeekEnd, "789"}, {0, io.SeekStart, "012"}} {
		if _, err := f.Seek(tc.offset, tc.whence); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(f, buf); err != nil || string(buf) != tc.want {
			t.Errorf("%+v: %q, %v", tc, buf, err)
		}
	}
	if _, err := f.Seek(11, io.SeekStart); err == nil {
		t.Error("a seek behind the end")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if data, _, err := storage.ReadAll(t.Context(), w, "log/checkpoint"); err != nil || string(data) != "0123456789" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := w.Open(t.Context(), "current"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestWebRefuses(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	for name, h := range map[string]http.HandlerFunc{
		"another host": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"403":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"give https://": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently)
		},
		"9223372036854775807 bytes": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9223372036854775807")
		},
		"5 redirects": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
	} {
		w := web(t, h)
		if _, err := w.Open(t.Context(), "current"); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "/snapshots/current") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"", "ftp://host", "https://", "https://user@host", "https://host?x", "host"} {
		if _, err := storage.NewWeb(address, nil, time.Now); err == nil {
			t.Errorf("%q: accepted", address)
		}
	}
}

// steps answers the n-th request with the n-th step, and the last one from then on.
type steps []func(r *http.Request) (*http.Response, error)

func (s *steps) RoundTrip(r *http.Request) (*http.Response, error) {
	step := (*s)[0]
	if len(*s) > 1 {
		*s = (*s)[1:]
	}
	return step(r)
}

// status answers with a status and a body; a header is a name and a value.
func status(code int, body io.Reader, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Etag": {`"1"`}}
		if len(header) == 2 {
			h.Set(header[0], header[1])
		}
		return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: h, ContentLength: 10, Body: stoppable{r, body}}, nil
	}
}

// A stoppable body ends with its request. It waits where it would return nothing.
type stoppable struct {
	r    *http.Request
	from io.Reader
}

func (s stoppable) Close() error { return nil }

func (s stoppable) Read(p []byte) (int, error) {
	if s.from == nil {
		<-s.r.Context().Done()
	}
	if err := s.r.Context().Err(); err != nil {
		return 0, err
	}
	return s.from.Read(p)
}

// A drip is a byte every 20 seconds.
type drip struct{}

// Read waits for a time of which the limit of two hours is no multiple.
func (drip) Read(p []byte) (int, error) {
	time.Sleep(21 * time.Second)
	return copy(p, "x"), nil
}

func TestWebOutlastsPassingFaults(t *testing.T) {
	whole := func(r *http.Request) (*http.Response, error) {
		return status(http.StatusOK, strings.NewReader("0123456789"))(r)
	}
	broken := status(http.StatusOK, io.MultiReader(strings.NewReader("0123"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	rest := func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Range") != "bytes=4-" || r.Header.Get("If-Range") != `"1"` {
			return nil, errors.New("not a request for the rest")
		}
		return status(http.StatusPartialContent, strings.NewReader("456789"))(r)
	}
	lost := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	silent := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	for name, tc := range map[string]struct {
		steps steps
		want  string // in the error
		takes time.Duration
	}{
		"a good server":        {steps{whole}, "", 0},
		"busy once":            {steps{status(503, nil), whole}, "", 200 * time.Millisecond},
		"too many requests":    {steps{status(429, nil, "Retry-After", "7"), whole}, "", 7 * time.Second},
		"busy for an hour":     {steps{status(503, nil, "Retry-After", "3600"), whole}, "", 30 * time.Second},
		"always busy":          {steps{status(503, nil)}, "status Service Unavailable", 1400 * time.Millisecond},
		"a lost connection":    {steps{lost, lost, lost, whole}, "", 1400 * time.Millisecond},
		"lost every time":      {steps{lost}, "unexpected EOF", 1400 * time.Millisecond},
		"broken in the middle": {steps{broken, status(502, nil), rest}, "", 400 * time.Millisecond},
		"no answer":            {steps{silent}, "sent nothing for 30s", 30 * time.Second},
		"no more bytes":        {steps{status(http.StatusOK, nil)}, "sent nothing for 30s", 30 * time.Second},
		"a byte now and then":  {steps{status(http.StatusOK, drip{})}, "more than 2h0m0s", 2*time.Hour + 3*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w, err := storage.NewWeb("https://host.example", &tc.steps, time.Now)
				if err != nil {
					t.Fatal(err)
				}
				data, _, err := storage.ReadAll(t.Context(), w, "current")
				if tc.want == "" && (err != nil || string(data) != "0123456789") || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("%q, error %v, want %q", data, err, tc.want)
				}
				if took := time.Since(began); took != tc.takes {
					t.Errorf("took %s, want %s", took, tc.takes)
				}
			})
		})
	}
}
