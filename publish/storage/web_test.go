package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/storage"
)

func web(t *testing.T, h http.HandlerFunc) *storage.Web {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	w, err := storage.NewWeb(s.URL, nil)
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
		"503":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
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
		if _, err := storage.NewWeb(address, nil); err == nil {
			t.Errorf("%q: accepted", address)
		}
	}
}
