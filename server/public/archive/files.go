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
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
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

var snapshotID = lazyregexp.MustCompile(`^[0-9a-f]{20}$`)

// logFile matches the names of the log's files (C2SP tlog-tiles).
var logFile = lazyregexp.MustCompile(`^(checkpoint|tile/(entries|\d{1,2})/(x\d{3}/){0,6}\d{3}(\.p/\d{1,3})?)$`)

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
		return noSnapshot()
	}
	listed, err := h.listed(r.Context(), id)
	if errors.Is(err, fs.ErrNotExist) {
		return noSnapshot()
	}
	if err != nil {
		return missing(err)
	}
	want, ok := listed[name]
	switch {
	case name == signatureName: // it changes when a snapshot is signed again
		return h.signature(w, r, id)
	case name == manifestName: // its digest begins with the id
		want.SHA256 = id
	case !ok:
		e := apierr.NotFound()
		e.Description = "The snapshot has no such file. Its manifest.json lists those that it has."
		return e
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

// A document is a file that is read whole.
type document struct {
	data []byte
	tag  string // the SHA-256 of its bytes
}

const (
	// maxSmall is the most bytes of a document: a tile of entries has 256 of them.
	maxSmall = 32 << 20
	// maxLogs is the most bytes of documents of the log that are kept.
	maxLogs = 32 << 20
	// checkpointTTL is how long the checkpoint is kept.
	checkpointTTL = time.Second
)

// log serves a file of the log. Tiles never change; the checkpoint does.
func (h *Handler) log(w http.ResponseWriter, r *http.Request) error {
	if err := h.allow(w); err != nil {
		return err
	}
	name := route.Param(r, "*")
	if !logFile.MatchString(name) {
		return apierr.NotFound()
	}
	key, epoch, cache, ttl := name, "", immutable, time.Duration(0)
	if head := h.head.Load(); head != nil {
		epoch = *head // a new checkpoint has new tiles
	}
	if name == "checkpoint" {
		cache, ttl = changing, checkpointTTL
		if s := h.Current(); s != nil {
			key += " " + s.ID // a new snapshot has a new checkpoint
		}
	}
	doc, err := h.logs.get(r.Context(), key, epoch, ttl, func(ctx context.Context) (document, error) {
		select {
		case h.docs <- struct{}{}:
			defer func() { <-h.docs }()
		case <-ctx.Done():
			return document{}, ctx.Err()
		}
		return h.read(ctx, "log/"+name)
	})
	if err != nil {
		return missing(err)
	}
	if name == "checkpoint" {
		h.head.Store(&doc.tag)
	}
	return serve(w, r, name, bytes.NewReader(doc.data), doc.tag, cache)
}

// signature serves the signature of a snapshot.
func (h *Handler) signature(w http.ResponseWriter, r *http.Request, id string) error {
	doc, err := h.read(r.Context(), id+"/"+signatureName)
	if err != nil {
		return missing(err)
	}
	return serve(w, r, signatureName, bytes.NewReader(doc.data), doc.tag, changing)
}

// read reads a file that no manifest lists.
func (h *Handler) read(ctx context.Context, name string) (document, error) {
	f, size, err := h.Source.Open(ctx, name)
	if err != nil {
		return document{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if size > maxSmall {
		return document{}, fmt.Errorf("%s has %d bytes", name, size)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSmall))
	sum := sha256.Sum256(data)
	return document{data, hex.EncodeToString(sum[:])}, err
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
	epoch := ""
	if s := h.Current(); s != nil {
		epoch = s.ID
	}
	return h.files.get(ctx, id, epoch, 0, func(ctx context.Context) (map[string]trialset.File, error) {
		list, err := h.Source.Files(ctx, id)
		if err != nil {
			return nil, err
		}
		files := make(map[string]trialset.File, len(list))
		for _, f := range list {
			if fs.ValidPath(f.Path) {
				files[f.Path] = f
			}
		}
		return files, nil
	})
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

func noSnapshot() error {
	e := apierr.NotFound()
	e.Description = "This server has no such snapshot. /api/public/snapshots lists those that it has."
	return e
}

// missing is the error of a file that cannot be opened.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return apierr.NotFound()
	}
	return apierr.Internal(err)
}
