package snapshotview

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/negotiate"
)

// cacheControl lets caches serve a response for a minute, and longer while they
// revalidate it or cannot reach the server.
const cacheControl = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"

// A Resource is a response in all its encodings, with the headers that they share.
type Resource struct {
	modified     time.Time
	lastModified []string
	contentType  []string
	vary, link   []string // replace Vary and extend Link; nil for most
	variants     [negotiate.Encodings]negotiate.Variant
}

// A Packer makes resources. It is not safe for concurrent use.
type Packer struct {
	modified time.Time
	zstd     *zstd.Encoder
	gzip     *gzip.Writer
}

// NewPacker returns a packer of bodies with that Last-Modified; none for the zero time.
func NewPacker(modified time.Time) *Packer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // unreachable: the options are constants
	}
	gz, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) // unreachable too
	}
	return &Packer{modified.UTC().Truncate(time.Second), enc, gz}
}

// Pack compresses one body. ETags are digests of the uncompressed body, so that replicas
// agree on them; each encoding has its own.
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
	r.variants[negotiate.Identity] = negotiate.NewVariant(body, tag, "")
	r.variants[negotiate.Gzip] = negotiate.NewVariant(gz.Bytes(), tag+"-gz", "gzip")
	r.variants[negotiate.Zstd] = negotiate.NewVariant(p.zstd.EncodeAll(body, nil), tag+"-zst", "zstd")
	return r, nil
}

// JSONType is the media type of JSON.
const JSONType = "application/json; charset=utf-8"

// EncodeJSON returns a value as one line of inert JSON; see inert.JSON.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // models copy URLs literally
	err := enc.Encode(v)
	return inert.JSON(b.Bytes()), err
}

// JSON packs a value as inert JSON.
func (p *Packer) JSON(v any) (*Resource, error) {
	body, err := EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return p.Pack(JSONType, body)
}

// Unpacked returns the resource of a body that is sent once: not compressed.
func Unpacked(contentType string, body []byte) *Resource {
	sum := sha256.Sum256(body)
	v := negotiate.NewVariant(body, hex.EncodeToString(sum[:12]), "")
	r := &Resource{contentType: []string{contentType}}
	for i := range r.variants {
		r.variants[i] = v
	}
	return r
}

// WithLink returns the resource with more links, values of the header Link.
func (res *Resource) WithLink(links []string) *Resource {
	out := *res
	out.link = links
	return &out
}

// Fixed headers of every resource, shared and never changed.
type fixed struct{ cache, vary, origin, expose, sniff, link []string }

// A Sender sends resources; Link is the value of the Link header.
type Sender struct{ f fixed }

// NewSender returns a sender whose answers have a Link of that value.
func NewSender(links string) *Sender {
	return &Sender{fixed{
		cache: []string{cacheControl}, vary: []string{"Accept-Encoding"}, origin: []string{"*"},
		expose: []string{"ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id"},
		sniff:  []string{"nosniff"},
		link:   []string{links},
	}}
}

// Send answers a GET or HEAD with a resource, or with 304.
func (s *Sender) Send(w http.ResponseWriter, r *http.Request, res *Resource) {
	v := &res.variants[negotiate.ContentEncoding(r)]
	h := w.Header()
	h["Etag"], h["Cache-Control"], h["Vary"] = v.ETag, s.f.cache, s.f.vary
	h["Access-Control-Allow-Origin"], h["Access-Control-Expose-Headers"], h["Link"] = s.f.origin, s.f.expose, s.f.link
	h["X-Content-Type-Options"] = s.f.sniff
	if res.vary != nil {
		h["Vary"] = res.vary
	}
	if res.link != nil {
		h["Link"] = slices.Concat(s.f.link, res.link)
	}
	if res.lastModified != nil {
		h["Last-Modified"] = res.lastModified
	}
	if res.notModified(r, v.ETag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	v.Send(w, r, res.contentType)
}

// notModified evaluates the preconditions of a request (RFC 9110, 13.2.2).
func (res *Resource) notModified(r *http.Request, etag string) bool {
	if len(r.Header["If-None-Match"]) > 0 {
		return negotiate.NotModified(r, etag)
	}
	if since := r.Header.Get("If-Modified-Since"); since != "" && !res.modified.IsZero() {
		at, err := http.ParseTime(since)
		return err == nil && !res.modified.After(at)
	}
	return false
}
