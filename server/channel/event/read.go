package event

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/netip"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// The default limits. Lengths are bytes.
const (
	MaxEvents    = 1000     // events, or lines of a log, of one body
	MaxBody      = 1 << 20  // after decompression
	MaxEvent     = 16 << 10 // of one event; not of a log line
	MaxURL       = 2048     // host and path
	MaxUserAgent = 512      // longer is cut
	MaxAccept    = 256      // longer is cut
	MaxID        = 128      // id, visitorToken, userRef, orderId
	MaxLevels    = 8        // of nested JSON, the body's own counted
	maxHost      = 253      //
	maxKind      = 40       //
	maxReport    = 256      // selfReported; longer is cut
	maxSignature = 2048     // of each signature header; longer is left out
	maxName      = 32       // of an unknown field that is named in a warning
	maxMeasure   = 1e12     // of durationMs and bytes
)

// MaxBeacon bounds a body that holds its own key, in bytes: a browser sends no larger
// one by navigator.sendBeacon (the Fetch standard's limit of keepalive requests).
const MaxBeacon = 64 << 10

// Limits of logs, which are larger because log drains do not adapt their batches.
const (
	MaxLogLines = 10_000
	MaxLogBody  = 16 << 20
)

// A KeyKind is the permission of a collector key.
type KeyKind string

// The kinds of keys.
const (
	KindSecret      KeyKind = "secret"      // everything
	KindPublishable KeyKind = "publishable" // touch and identify, from a browser
	KindLog         KeyKind = "log"         // touch
)

// A Format is the native form of a log drain. The zero value is ours.
type Format string

// The formats of logs.
const (
	FormatVercel     Format = "vercel"     // log drain, JSON or NDJSON
	FormatCloudflare Format = "cloudflare" // Logpush of HTTP requests, NDJSON
	FormatCombined   Format = "combined"   // lines of Apache and nginx, or JSON of nginx
)

// Limits bound a body. A field that is 0 has its default.
type Limits struct{ Events, Body, Event, URL, UserAgent, Accept, Levels int }

// Options describe the request of a body and the permission of its key.
type Options struct {
	MediaType      string // the Content-Type; ignored if Format is set; empty is JSON
	Encoding       string // the Content-Encoding: gzip, or empty
	Length         int64  // the Content-Length, to read in one go; -1 or 0 if unknown
	Format         Format
	Key            KeyKind // empty, as publishable: the key is in the body
	IdempotencyKey string  // gives events without id one
	ReceivedAt     time.Time
	Currency       string // default currency of the workspace
	Host           string // default host of log lines
	Backfill       bool   // as the body's field, for formats without it
	DryRun         bool   // likewise
	// ClientIP and ClientUserAgent are of the request itself. They replace
	// those of events sent with a publishable key.
	ClientIP        netip.Addr
	ClientUserAgent string
	Limits          Limits
}

// A Batch is the decoded body. Seen is len(Inputs) + len(Refusals).
type Batch struct {
	Inputs   []Input   // by Index
	Refusals []Refusal // by Index
	Warnings []Warning
	Seen     int
	Skipped  int  // log lines that are not about a page: assets, other methods, builds
	Native   bool // it is a log, of every request that the site had
	DryRun   bool
	// Key is the key in the body, which navigator.sendBeacon needs. The caller must
	// check that it is valid and publishable before it uses the rest.
	Key string
}

// reader holds the state of one Read.
type reader struct {
	o        Options
	lim      Limits
	b        []byte
	batch    Batch
	notes    notes
	draft    draft
	index    int // of the event at hand
	sentAt   time.Time
	backfill bool
	host     string
	idPrefix string
	tooMany  bool
	texts    texts
}

// Read reads a body to its end or to a limit. Events that break a rule are
// refused one by one; the error is for bodies that are above a limit
// ([ErrTooLarge]), cannot be read ([ErrUnreadable]) or come in a form that is not
// known ([ErrUnsupportedMedia], [ErrUnknownFormat], [ErrEncoding]), and for those
// of r.
func Read(r io.Reader, o Options) (Batch, error) {
	o.Key = cmp.Or(o.Key, KindPublishable)
	o.ReceivedAt = o.ReceivedAt.UTC()
	rd := &reader{o: o, lim: o.Limits.orDefault(), backfill: o.Backfill}
	rd.batch.DryRun, rd.batch.Native = o.DryRun, o.Format != ""
	rd.host, _ = hostOf(o.Host)
	if o.IdempotencyKey != "" {
		rd.idPrefix = idPrefix(o.IdempotencyKey)
	}
	parse, err := rd.parser()
	if err != nil {
		return Batch{}, err
	}
	body, err := readBody(r, o, rd.lim.Body)
	if err != nil {
		return Batch{}, err
	}
	rd.b = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	if bad := parse(); rd.tooMany {
		return Batch{}, &TooLargeError{What: "events", Limit: rd.lim.Events}
	} else if bad != nil {
		bad.Offset += len(body) - len(rd.b)
		return Batch{}, bad
	}
	rd.settle()
	sorting.StableFunc(rd.batch.Refusals, func(a, b Refusal) int { return cmp.Compare(a.Index, b.Index) })
	rd.batch.Warnings = rd.notes
	rd.batch.Seen = len(rd.batch.Inputs) + len(rd.batch.Refusals)
	return rd.batch, nil
}

func (l Limits) orDefault() Limits {
	return Limits{
		Events: cmp.Or(l.Events, MaxEvents), Body: cmp.Or(l.Body, MaxBody), Event: cmp.Or(l.Event, MaxEvent),
		URL: cmp.Or(l.URL, MaxURL), UserAgent: cmp.Or(l.UserAgent, MaxUserAgent),
		Accept: cmp.Or(l.Accept, MaxAccept), Levels: cmp.Or(l.Levels, MaxLevels),
	}
}

// parser returns the parser of the body's format.
func (r *reader) parser() (func() *UnreadableError, error) {
	switch r.o.Format {
	case "":
	case FormatVercel:
		return r.jsonLog(r.vercel), nil
	case FormatCloudflare:
		return r.jsonLog(r.cloudflare), nil
	case FormatCombined:
		return r.combined, nil
	default:
		return nil, ErrUnknownFormat
	}
	if r.o.MediaType == "" {
		return r.json, nil
	}
	media, params, err := mime.ParseMediaType(r.o.MediaType)
	if charset := params["charset"]; err != nil || charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return nil, ErrUnsupportedMedia
	}
	switch media {
	case "application/json", "text/json", "text/plain":
		return r.json, nil
	case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines":
		return r.ndjson, nil
	}
	return nil, ErrUnsupportedMedia
}

// readBody returns the decoded body. It reads no more than a little above limit
// bytes, packed or not, so that a small body cannot become a large one.
func readBody(r io.Reader, o Options, limit int) ([]byte, error) {
	packed := false
	switch strings.ToLower(strings.TrimSpace(o.Encoding)) {
	case "", "identity":
	case "gzip", "x-gzip":
		packed = true
	default:
		return nil, ErrEncoding
	}
	body, err := readAll(r, limit+limit/64+1024, o.Length)
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if packed || o.Format != "" && bytes.HasPrefix(body, []byte("\x1f\x8b")) { // drains send files
		if body, err = unpack(body, limit); err != nil {
			return nil, err
		}
	}
	if len(body) > limit {
		return nil, &TooLargeError{What: "bytes", Limit: limit}
	}
	return body, nil
}

func unpack(packed []byte, limit int) ([]byte, error) {
	in := bytes.NewReader(packed)
	z, err := gzip.NewReader(in)
	var body []byte
	if err == nil {
		body, err = readAll(z, limit, 0)
	}
	if err != nil {
		return nil, &UnreadableError{Offset: len(body), Reason: "it is not gzip, or broken off: " + plainReason(err)}
	}
	return body, nil
}

func plainReason(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "unexpected end"
	}
	return "bad data"
}

// readAll reads at most one byte more than limit; it is likely to be length bytes.
func readAll(r io.Reader, limit int, length int64) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(int(min(max(length, 2048), int64(limit))) + bytes.MinRead)
	_, err := buf.ReadFrom(io.LimitReader(r, int64(limit)+1))
	return buf.Bytes(), err
}
