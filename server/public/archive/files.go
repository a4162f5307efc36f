package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/deadline"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

const (
	manifestName  = "manifest.json"
	signatureName = "manifest.sig"
)

const (
	immutable = "public, max-age=31536000, immutable"
	changing  = "no-cache" // kept, and asked for again each time
)

var snapshotID = regexp.MustCompile(`^[0-9a-f]{20}$`)

// logFile matches the names of the log's files (C2SP tlog-tiles).
var logFile = regexp.MustCompile(`^(checkpoint|tile/(entries|\d{1,2})/(x\d{3}/){0,6}\d{3}(\.p/\d{1,3})?)$`)

// current serves the id of the snapshot that this server serves, as the place has it.
func (h *Handler) current(w http.ResponseWriter, r *http.Request) error {
	s, err := h.site()
	if err != nil {
		return err
	}
	return serve(w, r, signatureName, strings.NewReader(s.ID+"\n"), s.ID, changing)
}

// file serves a file of a snapshot: the manifest, its signature, and what it lists.
func (h *Handler) file(w http.ResponseWriter, r *http.Request) error {
	if err := h.allow(w); err != nil {
		return err
	}
	id, name := route.Param(r, "snapshot"), route.Param(r, "*")
	if !snapshotID.MatchString(id) {
		return apierr.NotFound()
	}
	listed, err := h.listed(r.Context(), id)
	if err != nil {
		return missing(err)
	}
	want, ok := listed[name]
	switch {
	case name == signatureName: // it changes when a snapshot is signed again
		return h.small(w, r, id+"/"+name, changing)
	case name == manifestName: // its digest begins with the id
		want.SHA256 = id
	case !ok:
		return apierr.NotFound()
	}
	f, size, err := h.Source.Open(r.Context(), id+"/"+name)
	if err != nil {
		return missing(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if ok && size != want.Bytes {
		return apierr.Internal(fmt.Errorf("snapshot %s: %s has %d bytes, the manifest says %d", id, name, size, want.Bytes))
	}
	return serve(w, r, name, f, want.SHA256, immutable)
}

// log serves a file of the log. Tiles never change; the checkpoint does.
func (h *Handler) log(w http.ResponseWriter, r *http.Request) error {
	if err := h.allow(w); err != nil {
		return err
	}
	name := route.Param(r, "*")
	if !logFile.MatchString(name) {
		return apierr.NotFound()
	}
	cache := immutable
	if name == "checkpoint" {
		cache = changing
	}
	return h.small(w, r, "log/"+name, cache)
}

// maxSmall is the most bytes of a file that is read whole: a tile of entries has 256 of
// them.
const maxSmall = 32 << 20

// small serves a file that no manifest lists.
func (h *Handler) small(w http.ResponseWriter, r *http.Request, name, cache string) error {
	f, size, err := h.Source.Open(r.Context(), name)
	if err != nil {
		return missing(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if size > maxSmall {
		return apierr.Internal(fmt.Errorf("%s has %d bytes", name, size))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSmall))
	if err != nil {
		return apierr.Internal(err)
	}
	sum := sha256.Sum256(data)
	return serve(w, r, name, bytes.NewReader(data), hex.EncodeToString(sum[:]), cache)
}

// serve answers with a file, or a part of it.
func serve(w http.ResponseWriter, r *http.Request, name string, f io.ReadSeeker, tag, cache string) error {
	head := w.Header()
	head.Set("Content-Type", contentType(name))
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag, X-Request-Id")
	head.Set("Cache-Control", cache)
	head.Set("ETag", `"`+tag+`"`)
	return deadline.ServeFile(w, r, f)
}

func contentType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return snapshotview.JSONType
	case ".parquet":
		return "application/vnd.apache.parquet"
	case ".zst":
		return "application/zstd"
	}
	if base := path.Base(name); base == "checkpoint" || base == signatureName {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// maxManifests is how many snapshots' lists of files are kept.
const maxManifests = 64

// listed returns the files of a snapshot by path.
func (h *Handler) listed(ctx context.Context, id string) (map[string]trialset.File, error) {
	h.mu.Lock()
	files, ok := h.files[id]
	h.mu.Unlock()
	if ok {
		return files, nil
	}
	list, err := h.Source.Files(ctx, id)
	if err != nil {
		return nil, err
	}
	files = make(map[string]trialset.File, len(list))
	for _, f := range list {
		if fs.ValidPath(f.Path) {
			files[f.Path] = f
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.files) >= maxManifests {
		clear(h.files)
	}
	h.files[id] = files
	return files, nil
}

// allow counts a request for a file; one that is too much is an error.
func (h *Handler) allow(w http.ResponseWriter) error {
	if h.LimitsOff {
		return nil
	}
	left, after, ok := h.calls.Allow(reqctx.Client(w), h.Now())
	h.calls.WriteHeaders(w.Header(), left, after)
	if !ok {
		return apierr.RateLimited(after)
	}
	return nil
}

// missing is the error of a file that cannot be opened.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return apierr.NotFound()
	}
	return apierr.Internal(err)
}
