package negotiate

import (
	"bytes"
	"net/http"
	"strconv"
)

// A Variant is a response body in one encoding. Header values are kept as the slices
// that net/http uses, so that sending a variant does not allocate.
type Variant struct {
	ETag     []string // with its quotes
	body     []byte
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

// Send answers a GET or HEAD with 200 and the body.
func (v *Variant) Send(w http.ResponseWriter, r *http.Request, contentType []string) {
	h := w.Header()
	h["Content-Type"], h["Content-Length"] = contentType, v.length
	if v.encoding != nil {
		h["Content-Encoding"] = v.encoding
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.body) // the client is gone; nothing to do
	}
}
