package negotiate

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
)

// minCompressed is the size from which a document is compressed, in bytes: a smaller
// one fits into a packet or two either way.
const minCompressed = 1400

// A Document is a public file that is always there. It is an http.Handler of GET and HEAD.
type Document struct {
	contentType  []string
	cacheControl string
	identity     *Variant
	// gzip compresses once, for the first request: a server that starts waits for none.
	// It is nil for a small document, and gives nil where compression saves nothing.
	gzip func() *Variant
}

// NewDocument returns a document. cacheControl is the header's value.
func NewDocument(contentType, cacheControl string, body []byte) *Document {
	sum := sha256.Sum256(body)
	tag := base64.RawURLEncoding.EncodeToString(sum[:12])
	identity := NewVariant(body, tag, "")
	d := &Document{contentType: []string{contentType}, cacheControl: cacheControl, identity: &identity}
	if len(body) >= minCompressed {
		d.gzip = sync.OnceValue(func() *Variant { return compress(body, tag) })
	}
	return d
}

func compress(body []byte, tag string) *Variant {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		panic(err) // unreachable: the level is a constant
	}
	_, err = z.Write(body)
	if cerr := z.Close(); err != nil || cerr != nil {
		panic("unreachable: a buffer takes everything")
	}
	if buf.Len() >= len(body) {
		return nil // it is compressed already: a font, a picture
	}
	compressed := NewVariant(buf.Bytes(), tag+"-gz", "gzip")
	return &compressed
}

// ServeHTTP answers with the document, or with 304.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := d.identity
	h := w.Header()
	if d.gzip != nil {
		h.Add("Vary", "Accept-Encoding")
		if AcceptsGzip(r) {
			v = cmp.Or(d.gzip(), v)
		}
	}
	h.Set("Cache-Control", d.cacheControl)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Link")
	h.Set("X-Content-Type-Options", "nosniff")
	h["Etag"] = v.ETag
	if NotModified(r, v.ETag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	v.Send(w, r, d.contentType)
}
