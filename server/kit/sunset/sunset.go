// Package sunset tells callers of paths that will not stay: since when, until when, and
// what comes instead (RFC 9745, RFC 8594). What is deprecated is in one table, which the
// documents print.
package sunset

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Path is deprecated.
type Path struct {
	Pattern   string // as routers write it: /api/v1/evals/{id}
	Since     time.Time
	Until     time.Time // it works for so long at least; twelve months, the policy says
	Successor string    // a path; empty for none
}

// Table returns all deprecated paths. An operation of the table is deprecated: true in
// openapi.yaml, and the changelog has it.
func Table() []Path { return nil }

// Of returns the entry of a table that an address falls under.
func Of(table []Path, path string) (Path, bool) {
	i := slices.IndexFunc(table, func(p Path) bool { return matches(p.Pattern, path) })
	if i < 0 {
		return Path{}, false
	}
	return table[i], true
}

func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		return w == g || strings.HasPrefix(w, "{") && strings.HasSuffix(w, "}") && g != ""
	})
}

// Writer returns a writer that adds the headers of p to an answer, whatever the handler
// sets. base is the public address of the service.
func (p Path) Writer(w http.ResponseWriter, base string) http.ResponseWriter {
	return &writer{ResponseWriter: w, path: p, base: base}
}

type writer struct {
	http.ResponseWriter
	path Path
	base string
	told bool
}

func (w *writer) tell() {
	if w.told {
		return
	}
	w.told = true
	h := w.Header()
	h.Set("Deprecation", "@"+strconv.FormatInt(w.path.Since.Unix(), 10))
	h.Set("Sunset", w.path.Until.UTC().Format(http.TimeFormat))
	h["Link"] = slices.Concat(h["Link"], []string{"<" + w.base + `/docs/versioning>; rel="deprecation"; type="text/html"`}) // a copy: others share theirs
	if w.path.Successor != "" {
		h["Link"] = append(h["Link"], "<"+w.base+w.path.Successor+`>; rel="successor-version"`)
	}
	exposed := "Deprecation, Sunset, Link"
	if others := h.Get("Access-Control-Expose-Headers"); others != "" {
		exposed = others + ", Deprecation, Sunset"
	}
	h.Set("Access-Control-Expose-Headers", exposed)
}

func (w *writer) WriteHeader(status int) {
	w.tell()
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	w.tell()
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
