package snapshotview

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/negotiate"
)

// cacheControl lets caches serve a response for a minute, and longer while they
// revalidate it or cannot reach the server.
const cacheControl = "public, max-age=60, stale-while-revalidate=600, stale-if-error=86400"

// A Resource is a response in all its encodings, with the headers that they share. One of a
// site is made when it is first asked for.
type Resource struct {
	modified     time.Time
	lastModified []string
	contentType  []string
	vary, link   []string // replace Vary and extend Link; nil for most
	made         atomic.Pointer[variants]
	source       *source // nil for one that was made at once
}

type variants [negotiate.Encodings]negotiate.Variant

// A Packer makes resources. It is not safe for concurrent use.
type Packer struct {
	modified time.Time
	zstd     *zstd.Encoder
	gzip     *gzip.Writer
}

// window is how far back zstd looks for what a body repeats, in bytes. Few bodies are larger,
// and the encoder keeps twice as much memory.
const window = 1 << 20

// NewPacker returns a packer of bodies with that Last-Modified; none for the zero time.
func NewPacker(modified time.Time) *Packer {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		panic(err) // unreachable: the options are constants
	}
	gz, err := gzip.NewWriterLevel(nil, gzip.BestCompression)
	if err != nil {
		panic(err) // unreachable too
	}
	return &Packer{modified.UTC().Truncate(time.Second), enc, gz}
}

// Pack compresses one body.
func (p *Packer) Pack(contentType string, body []byte) (*Resource, error) {
	r := newResource(contentType, p.modified)
	made, err := p.encode(body, true)
	r.made.Store(made)
	return r, err
}

func newResource(contentType string, modified time.Time) *Resource {
	r := &Resource{contentType: []string{contentType}}
	if !modified.IsZero() {
		r.modified, r.lastModified = modified, []string{modified.Format(http.TimeFormat)}
	}
	return r
}

// encode returns a body in all encodings. ETags are digests of the uncompressed body, so that
// replicas agree on them; each encoding has its own. Without whole the uncompressed body is
// not kept: it is made from the others where it is sent.
func (p *Packer) encode(body []byte, whole bool) (*variants, error) {
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
	v := &variants{}
	v[negotiate.Gzip] = negotiate.NewVariant(gz.Bytes(), tag+"-gz", "gzip")
	v[negotiate.Zstd] = negotiate.NewVariant(p.zstd.EncodeAll(body, nil), tag+"-zst", "zstd")
	if whole {
		v[negotiate.Identity] = negotiate.NewVariant(body, tag, "")
	} else {
		v[negotiate.Identity] = v[negotiate.Gzip].Gunzipped(tag, len(body))
	}
	return v, nil
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
	v, all := negotiate.NewVariant(body, hex.EncodeToString(sum[:12]), ""), &variants{}
	for i := range all {
		all[i] = v
	}
	r := newResource(contentType, time.Time{})
	r.made.Store(all)
	return r
}

// WithLink sets more links of a resource that nobody else has yet, values of the header Link.
func (res *Resource) WithLink(links []string) *Resource {
	res.link = links
	return res
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
	v := &res.variants()[negotiate.ContentEncoding(r)]
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
