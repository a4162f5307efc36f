package negotiate

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
)

// A Variant is a response body in one encoding. Header values are kept as the slices
// that net/http uses, so that sending a variant does not allocate.
type Variant struct {
	ETag     []string // with its quotes
	body     []byte
	gzipped  bool // body is sent decompressed
	length   []string
	encoding []string // nil for identity
}

// NewVariant returns a variant of a body that is already encoded. tag is its ETag
// without quotes; encoding is "" for identity.
func NewVariant(body []byte, tag, encoding string) Variant {
	v := Variant{body: bytes.Clone(body), length: []string{strconv.Itoa(len(body))}, ETag: []string{`"` + tag + `"`}}
	if encoding != "" {
		v.encoding = []string{encoding}
	}
	return v
}

// Gunzipped returns the identity of a gzip variant, of so many bytes. It shares the body of
// the variant, and decompresses it when it is sent.
func (v *Variant) Gunzipped(tag string, bytes int) Variant {
	return Variant{body: v.body, gzipped: true, length: []string{strconv.Itoa(bytes)}, ETag: []string{`"` + tag + `"`}}
}

// Size is how many bytes the variant keeps of its own.
func (v *Variant) Size() int {
	if v.gzipped {
		return 0
	}
	return len(v.body)
}

// Send answers a GET or HEAD with 200 and the body.
func (v *Variant) Send(w http.ResponseWriter, r *http.Request, contentType []string) {
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = contentType, v.length
	if v.encoding != nil {
		h["Content-Encoding"] = v.encoding
	}
	w.WriteHeader(http.StatusOK)
	switch {
	case r.Method == http.MethodHead:
	case v.gzipped:
		if z, err := gzip.NewReader(bytes.NewReader(v.body)); err == nil { // it was made here
			_, _ = io.Copy(w, z) // a write error means that the client disconnected
		}
	default:
		_, _ = w.Write(v.body) // as above
	}
}
