package evalapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"github.com/firstpick/firstpick/server/kit/deadline"
	"github.com/firstpick/firstpick/server/kit/negotiate"
)

// worthPacking is from how many bytes on a body is sent compressed.
const worthPacking = 1400

// pieceBytes is the size of one write.
const pieceBytes = 64 << 10

// encode is JSON as it is sent.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// ok answers a GET with JSON. Its ETag is of the bytes.
func (c *call) ok(v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	return c.send(data, digest(data))
}

// get answers a GET that takes no parameters.
func get[T any](c *call, read func(ctx context.Context) (T, error)) error {
	if _, err := c.query(); err != nil {
		return err
	}
	v, err := read(c.r.Context())
	if err != nil {
		return err
	}
	return c.ok(v)
}

// send answers a GET with JSON that a tag identifies, or with 304.
func (c *call) send(data []byte, tag string) error {
	gz := len(data) >= worthPacking && negotiate.AcceptsGzip(c.r)
	if c.fresh(tag, gz) {
		return nil
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	if gz {
		var packed bytes.Buffer
		z := newGzip(&packed)
		_, _ = z.Write(data) // into memory
		_ = z.Close()
		data = packed.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(http.StatusOK)
	if c.r.Method == http.MethodHead {
		return nil
	}
	out := deadline.NewWriter(c.w)
	for piece := range slices.Chunk(data, pieceBytes) {
		if _, err := out.Write(piece); err != nil {
			break // the client disconnected
		}
	}
	return nil
}

// newGzip packs in a hurry: who waits for the answer waits for this too.
func newGzip(w io.Writer) *gzip.Writer {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		panic(err) // unreachable: the level is one
	}
	return z
}

// fresh sets the caching headers. It writes 304 and returns true when the client's copy
// is current.
func (c *call) fresh(tag string, gz bool) bool {
	if gz {
		tag += "-gz"
	}
	tag = `"` + tag + `"`
	h := c.w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache") // a key may be revoked at any time
	h.Set("Vary", "Authorization, Accept, Accept-Encoding")
	if !negotiate.NotModified(c.r, tag) {
		return false
	}
	c.w.WriteHeader(http.StatusNotModified)
	return true
}

// done writes the response of a write.
func (c *call) done(status int, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(data) // a write error means that the client disconnected
	return nil
}

// next returns the cursor of the next page, null on the last, and sets its Link header.
func (h *Handler) next(c *call, values url.Values, cursor string) *string {
	if cursor == "" {
		return nil
	}
	values.Set("cursor", cursor)
	c.w.Header().Set("Link", "<"+h.Errors.Base+c.r.URL.EscapedPath()+"?"+values.Encode()+`>; rel="next"`)
	return &cursor
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}
