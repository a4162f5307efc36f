package negotiate

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func request(name, value string) *http.Request {
	return &http.Request{Method: http.MethodGet, Header: http.Header{name: {value}}}
}

func FuzzContentEncoding(f *testing.F) {
	f.Add("gzip;q=0.5, *;q=0, identity")
	f.Fuzz(func(t *testing.T, accept string) {
		e := ContentEncoding(request("Accept-Encoding", accept))
		if e < 0 || e >= Encodings {
			t.Errorf("encoding %d", e)
		}
		lower := strings.ToLower(accept)
		if !strings.Contains(lower, "gzip") && !strings.Contains(lower, "zstd") && !strings.Contains(lower, "*") && e != Identity {
			t.Errorf("%q gets an encoding that it does not name", accept)
		}
	})
}

func FuzzNotModified(f *testing.F) {
	f.Add(`W/"a", "b"`, `"b"`)
	f.Fuzz(func(t *testing.T, list, tag string) {
		tag = `"` + strings.Map(func(r rune) rune {
			if r == '"' || r == ',' || r <= ' ' {
				return -1
			}
			return r
		}, tag) + `"`
		if !NotModified(request("If-None-Match", list+","+tag), tag) {
			t.Errorf("%q is not found in its own list", tag)
		}
	})
}

func TestContentEncoding(t *testing.T) {
	for accept, want := range map[string]Encoding{
		"": Identity, "gzip": Gzip, "zstd, gzip": Zstd, "gzip;q=0.9, zstd;q=0.5": Gzip, "gzip; Q=0": Identity, "*": Gzip, "br, *;q=0.1": Gzip, "identity, gzip;q=0.5": Identity, "GZIP;q=nan": Gzip,
	} {
		if got := ContentEncoding(request("Accept-Encoding", accept)); got != want {
			t.Errorf("%q: %v, want %v", accept, names()[got], names()[want])
		}
		if got := AcceptsGzip(request("Accept-Encoding", accept)); got != strings.Contains(" gzip|zstd, gzip|gzip;q=0.9, zstd;q=0.5|*|br, *;q=0.1|GZIP;q=nan|", accept+"|") && accept != "" {
			t.Errorf("%q: AcceptsGzip is %v", accept, got)
		}
	}
}

func TestDocument(t *testing.T) {
	long := strings.Repeat("text ", 1000)
	for name, test := range map[string]struct {
		body, header, value string
		status              int
		encoding            string
	}{
		"identity":         {long, "Accept-Encoding", "identity", 200, ""},
		"gzip":             {long, "Accept-Encoding", "gzip", 200, "gzip"},
		"small":            {"text", "Accept-Encoding", "gzip", 200, ""},
		"cached":           {long, "If-None-Match", "*", 304, ""},
		"cached elsewhere": {long, "If-None-Match", `"other"`, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			NewDocument("text/plain", "no-cache", []byte(test.body)).ServeHTTP(w, request(test.header, test.value))
			if w.Code != test.status || w.Header().Get("Content-Encoding") != test.encoding || w.Header().Get("Etag") == "" || test.status == 304 && w.Body.Len() != 0 {
				t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
			}
		})
	}
}
