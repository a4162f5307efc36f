package snapshotview

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

func answer(t *testing.T, res *Resource, method, encoding string) (*http.Response, string) {
	t.Helper()
	r, w := httptest.NewRequest(method, "/", nil), httptest.NewRecorder()
	r.Header.Set("Accept-Encoding", encoding)
	NewSender("").Send(w, r, res)
	body, from := w.Result(), io.Reader(w.Body)
	var err error
	switch body.Header.Get("Content-Encoding") {
	case "gzip":
		from, err = gzip.NewReader(w.Body)
	case "zstd":
		from, err = zstd.NewReader(w.Body)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return body, string(text)
}

// TestMadeLater: a body is made once for all who ask, and is the same in every encoding,
// whether it is kept as it is or not.
func TestMadeLater(t *testing.T) {
	want := strings.Repeat("a body that compresses ", 400)
	for _, kind := range []string{htmlType, JSONType} {
		var made atomic.Int64
		res := newPress(time.Unix(1e9, 0), maxKept).later(kind, func() ([]byte, error) { made.Add(1); return []byte(want), nil })
		var wg sync.WaitGroup
		for range 8 {
			for _, encoding := range []string{"", "gzip", "zstd", "identity"} {
				wg.Go(func() {
					if resp, body := answer(t, res, http.MethodGet, encoding); body != want || resp.Header.Get("Content-Encoding") == "" && resp.ContentLength != int64(len(want)) {
						t.Errorf("%s %q: %d bytes, length %d", kind, encoding, len(body), resp.ContentLength)
					}
				})
			}
		}
		wg.Wait()
		if made.Load() != 1 {
			t.Errorf("%s: made %d times", kind, made.Load())
		}
		if resp, body := answer(t, res, http.MethodHead, "identity"); body != "" || resp.Header.Get("Content-Length") != "9200" {
			t.Errorf("%s: HEAD has %d bytes, and says %s", kind, len(body), resp.Header.Get("Content-Length"))
		}
	}
}

// TestPressIsBounded: the oldest bodies are dropped, and made again when they are asked for.
func TestPressIsBounded(t *testing.T) {
	p := newPress(time.Time{}, 500)
	made := map[string]int{}
	var all []*Resource
	for i := range 20 {
		name := strings.Repeat(string(rune('a'+i)), 10_000)
		all = append(all, p.later(htmlType, func() ([]byte, error) { made[name[:1]]++; return []byte(name), nil }))
	}
	for range 2 {
		for i, res := range all {
			if _, body := answer(t, res, http.MethodGet, "identity"); len(body) != 10_000 || body[0] != byte('a'+i) {
				t.Errorf("%d: %.10s", i, body)
			}
			if p.size > p.most {
				t.Fatalf("%d bytes are kept", p.size)
			}
		}
	}
	if made["a"] != 2 || all[0].made.Load() != nil || all[19].made.Load() == nil {
		t.Errorf("made %v", made)
	}
}

// TestUnmadeBody: a failure is a panic, which the server answers, and holds nobody up.
func TestUnmadeBody(t *testing.T) {
	fail := errors.New("no such template")
	res := newPress(time.Time{}, maxKept).later(htmlType, func() ([]byte, error) { return nil, fail })
	for range 3 {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, fail) {
					t.Errorf("got %v", err)
				}
			}()
			answer(t, res, http.MethodGet, "gzip")
		}()
	}
}
