package snapshotview

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// An encoding of a resource, in the order in which the server likes them.
type encoding int

const (
	asZstd encoding = iota
	asGzip
	asIdentity
	encodings
)

func encodingNames() [encodings]string { return [encodings]string{"zstd", "gzip", "identity"} }

// cacheControl lets caches serve an answer for a minute, and longer while they
// ask again or the server is away.
const cacheControl = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"

// A Resource is one answer in all its encodings. Header values are kept as the
// slices that net/http wants, so that sending one allocates none.
type Resource struct {
	modified     time.Time
	lastModified []string
	contentType  []string
	vary, link   []string // instead of, and besides, those of every answer; nil for none
	variants     [encodings]variant
}

type variant struct {
	body     []byte
	length   []string
	etag     []string
	encoding []string // nil for identity
}

// A Packer compresses bodies, one after the other.
type Packer struct {
	modified time.Time
	zstd     *zstd.Encoder
	gzip     *gzip.Writer
}

// NewPacker returns a packer of bodies that were last changed at some time; zero for one
// that is not known.
func NewPacker(modified time.Time) *Packer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // unreachable: the options are constants
	}
	gz, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) // likewise
	}
	return &Packer{modified.UTC().Truncate(time.Second), enc, gz}
}

// Pack packs one body. The ETag is of the bytes as they are, so replicas agree on it;
// each encoding has its own.
func (p *Packer) Pack(contentType string, body []byte) (*Resource, error) {
	var gz bytes.Buffer
	p.gzip.Reset(&gz)
	if _, err := p.gzip.Write(body); err != nil {
		return nil, err
	}
	if err := p.gzip.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:12])
	r := &Resource{contentType: []string{contentType}}
	if !p.modified.IsZero() {
		r.modified, r.lastModified = p.modified, []string{p.modified.Format(http.TimeFormat)}
	}
	r.variants[asIdentity] = newVariant(body, tag, "")
	r.variants[asGzip] = newVariant(gz.Bytes(), tag+"-gz", "gzip")
	r.variants[asZstd] = newVariant(p.zstd.EncodeAll(body, nil), tag+"-zst", "zstd")
	return r, nil
}

func newVariant(body []byte, tag, name string) variant {
	v := variant{body: bytes.Clone(body), length: []string{strconv.Itoa(len(body))}, etag: []string{`"` + tag + `"`}}
	if name != "" {
		v.encoding = []string{name}
	}
	return v
}

// Fixed headers of every resource, shared and never changed.
type fixed struct{ cache, vary, origin, expose, link []string }

// A Sender sends resources; Link is the value of the Link header.
type Sender struct{ f fixed }

// NewSender returns a sender whose answers have a Link of that value.
func NewSender(links string) *Sender {
	return &Sender{fixed{
		cache: []string{cacheControl}, vary: []string{"Accept-Encoding"}, origin: []string{"*"},
		expose: []string{"ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"},
		link:   []string{links},
	}}
}

// Send answers a GET or HEAD with a resource: 304 where the caller has it.
func (s *Sender) Send(w http.ResponseWriter, r *http.Request, res *Resource) {
	v := &res.variants[negotiate(r.Header.Get("Accept-Encoding"))]
	h := w.Header()
	h["Etag"], h["Cache-Control"], h["Vary"] = v.etag, s.f.cache, s.f.vary
	h["Access-Control-Allow-Origin"], h["Access-Control-Expose-Headers"], h["Link"] = s.f.origin, s.f.expose, s.f.link
	if res.vary != nil {
		h["Vary"], h["Link"] = res.vary, slices.Concat(s.f.link, res.link)
	}
	if res.lastModified != nil {
		h["Last-Modified"] = res.lastModified
	}
	if res.fresh(r, v.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"], h["Content-Length"] = res.contentType, v.length
	if v.encoding != nil {
		h["Content-Encoding"] = v.encoding
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(v.body) // the client is gone; nothing to do
	}
}

// fresh reports whether the caller has this very answer (RFC 9110, 13.2.2).
func (res *Resource) fresh(r *http.Request, etag string) bool {
	if tags := r.Header["If-None-Match"]; len(tags) > 0 {
		return matches(strings.Join(tags, ","), etag)
	}
	if since := r.Header.Get("If-Modified-Since"); since != "" && !res.modified.IsZero() {
		at, err := http.ParseTime(since)
		return err == nil && !res.modified.After(at)
	}
	return false
}

// Known reports whether the caller of a GET has the answer of an ETag.
func Known(r *http.Request, etag string) bool {
	return matches(strings.Join(r.Header["If-None-Match"], ","), etag)
}

// TakesGzip reports whether the caller likes gzip better than nothing.
func TakesGzip(r *http.Request) bool {
	weights := weigh(r.Header.Get("Accept-Encoding"))
	return weights[asGzip] > 0 && weights[asGzip] >= weights[asIdentity]
}

// matches compares an If-None-Match list weakly.
func matches(list, etag string) bool {
	for _, tag := range strings.Split(list, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == etag {
			return true
		}
	}
	return false
}

// negotiate picks the encoding that an Accept-Encoding header likes best; of
// equals, the one that is smallest (RFC 9110, 12.5.3).
func negotiate(accept string) encoding {
	if accept == "" {
		return asIdentity
	}
	weights := weigh(accept)
	best, bestQ := asIdentity, -1.0
	for e, weight := range weights {
		if weight > bestQ && weight > 0 {
			best, bestQ = encoding(e), weight
		}
	}
	return best
}

// weigh returns how much an Accept-Encoding header likes each encoding; at most 0 is
// not at all.
func weigh(accept string) [encodings]float64 {
	names := encodingNames()
	q := [encodings]float64{-1, -1, -1}
	any := -1.0
	for _, part := range strings.Split(accept, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		weight := 1.0
		if value, ok := strings.CutPrefix(strings.TrimSpace(params), "q="); ok {
			if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && v <= 1 {
				weight = v
			}
		}
		if name == "*" {
			any = weight
		}
		for e, known := range names {
			if name == known {
				q[e] = weight
			}
		}
	}
	for e := range q {
		if q[e] < 0 && encoding(e) != asZstd { // * means common encodings, and many clients lack zstd
			q[e] = any
		}
		if q[e] < 0 && encoding(e) == asIdentity {
			q[e] = 0.001 // acceptable unless refused, but last
		}
	}
	return q
}
