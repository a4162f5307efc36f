package snapshotview

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
)

// worthwhile is the size from which text is compressed, in bytes: below, it fits into a
// packet or two either way.
const worthwhile = 1400

// A Document is a text that any page of the web may read, compressed once. It is an
// http.Handler of GET and HEAD.
type Document struct {
	contentType, cacheControl string
	identity, gzip            variant // gzip.body is nil where compressing is not worthwhile
}

// NewDocument makes a document. cacheControl is the header's value.
func NewDocument(contentType, cacheControl string, body []byte) *Document {
	sum := sha256.Sum256(body)
	tag := base64.RawURLEncoding.EncodeToString(sum[:12])
	d := &Document{contentType: contentType, cacheControl: cacheControl, identity: newVariant(body, tag, "")}
	if len(body) < worthwhile {
		return d
	}
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		panic(err) // unreachable: the level is a constant
	}
	_, err = z.Write(body)
	if cerr := z.Close(); err != nil || cerr != nil {
		panic("unreachable: a buffer takes everything")
	}
	d.gzip = newVariant(buf.Bytes(), tag+"-gz", "gzip")
	return d
}

// ServeHTTP answers with the document: 304 where the caller has it.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := &d.identity
	h := w.Header()
	if d.gzip.body != nil {
		h.Add("Vary", "Accept-Encoding")
		if TakesGzip(r) {
			v = &d.gzip
		}
	}
	h.Set("Cache-Control", d.cacheControl)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "ETag, Link")
	h.Set("X-Content-Type-Options", "nosniff")
	h["Etag"] = v.etag
	if Known(r, v.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", d.contentType)
	h.Set("Content-Length", strconv.Itoa(len(v.body)))
	if v.encoding != nil {
		h["Content-Encoding"] = v.encoding
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.body) // the client is gone; nothing to do
	}
}
