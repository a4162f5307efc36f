package ship

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
	"unicode"

	"github.com/firstpick/firstpick/cmd/agentcollect"
	"github.com/firstpick/firstpick/server/channel/event"
)

// An entry is an event that is to be sent.
type entry struct {
	Where    string          `json:"where"` // file:line
	Event    json.RawMessage `json:"event"`
	Backfill bool            `json:"backfill,omitempty"`
}

// A parser makes events of lines.
type parser struct {
	host   string // of lines that name none
	all    bool
	report func(kind, where, message string) // of a line that cannot be read
	stats  *Stats

	named    bool  // a line named its host
	hostless error // of the first event without a host, while no line named one; it ends the run

	body  bytes.Buffer
	lines []parsed // of body
}

// parsed is a line in the body that package event reads.
type parsed struct {
	offset, number int64
	raw            []byte
}

// block makes events of lines of one source. The format is known.
func (p *parser) block(src *source, backfill bool, now time.Time, batch []line) []entry {
	p.body.Reset()
	p.lines = p.lines[:0]
	for _, l := range batch {
		text := bytes.TrimFunc(l.text, blank)
		if len(text) == 0 {
			p.stats.Skipped++
			continue
		}
		raw := text
		if src.format == Caddy {
			var ok bool
			var err error
			if text, ok, err = fromCaddy(text); err != nil {
				p.unreadable(src, l.number, "the line is not of Caddy's JSON access log: "+err.Error())
				continue
			}
			if !ok {
				p.stats.Skipped++
				continue
			}
		}
		p.body.Write(text)
		p.body.WriteByte('\n')
		p.lines = append(p.lines, parsed{l.offset, l.number, raw})
	}
	return p.events(src, backfill, now, p.body.Bytes(), p.lines)
}

// blank reports whether a character around a line does not count: white space, and
// byte order marks.
func blank(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' }

// events reads a body, and when it cannot be read as a whole, each of its lines by
// itself: a line may look like the beginning of something else.
func (p *parser) events(src *source, backfill bool, now time.Time, body []byte, all []parsed) []entry {
	if len(all) == 0 {
		return nil
	}
	o := event.Options{
		Key: event.KindSecret, ReceivedAt: now, Host: p.host, Backfill: backfill,
		Format: event.FormatCombined,
		Limits: event.Limits{Events: len(all), Body: len(body), Event: event.MaxEvent},
	}
	if src.format == JSON {
		o.Format, o.MediaType = "", "application/x-ndjson"
	} else {
		o.Limits.Event = maxLine
	}
	batch, err := event.Read(bytes.NewReader(body), o)
	if err != nil && len(all) == 1 {
		p.unreadable(src, all[0].number, err.Error())
		return nil
	}
	var out []entry
	if err != nil {
		for i := range all {
			one, rest, _ := bytes.Cut(body, []byte("\n"))
			out = append(out, p.events(src, backfill, now, one, all[i:i+1])...)
			body = rest
		}
		return out
	}
	p.stats.Skipped += int64(batch.Skipped)
	for _, r := range batch.Refusals {
		if r.Code == event.TSTooOld {
			p.stats.Old++
			continue
		}
		p.unreadable(src, all[r.Index].number, r.Message)
	}
	p.named = p.named || slices.ContainsFunc(batch.Inputs, func(in event.Input) bool { return in.Host != "" })
	for i := range batch.Inputs {
		in := &batch.Inputs[i]
		if !p.all && !mayBeAgent(in) {
			p.stats.Skipped++
			continue
		}
		at := &all[in.Index]
		switch missing := src.format != JSON && in.Host == ""; {
		case missing && p.named:
			p.unreadable(src, at.number, "the line names no host, as others do")
			continue
		case missing && p.hostless == nil:
			p.hostless = fmt.Errorf("%s:%d: %w", src.path, at.number, ErrNoHost)
		}
		id := eventID(src.head, at.offset, at.raw)
		raw, err := toEvent(in, id)
		if src.format == JSON {
			raw, err = withID(at.raw, in.ID, id), nil
		}
		if err != nil {
			p.unreadable(src, at.number, err.Error())
			continue
		}
		p.stats.Agents++
		out = append(out, entry{Where: fmt.Sprintf("%s:%d", src.path, at.number), Event: raw, Backfill: backfill})
	}
	return out
}

func (p *parser) unreadable(src *source, number int64, message string) {
	p.stats.Unreadable++
	p.report("unreadable", fmt.Sprintf("%s:%d", src.path, number), message)
}

// mayBeAgent reports whether an input is worth sending. A program that writes events
// that say who it was has decided.
func mayBeAgent(in *event.Input) bool {
	if in.Type != event.Touch || in.Claimed != "" || in.MCPMethod != "" || in.MCPTool != "" || in.MCPClient != "" {
		return true
	}
	return agentcollect.Visit{
		UserAgent: in.UserAgent, Accept: in.Accept, Referrer: in.ReferrerHost + in.ReferrerPath, SignatureAgent: in.SignatureAgent,
		Tagged: in.Via != "" || in.UTMSource != "" || in.VT != "",
	}.MayBeAgent()
}

// eventID names the event of a line; see the package's documentation.
func eventID(head []byte, offset int64, text []byte) string {
	h := sha256.New()
	var sizes [20]byte
	copy(sizes[:], "log1")
	binary.BigEndian.PutUint64(sizes[4:], uint64(len(head)))
	binary.BigEndian.PutUint64(sizes[12:], uint64(offset))
	_, _ = h.Write(sizes[:]) // hashes do not fail
	_, _ = h.Write(head)
	_, _ = h.Write(text)
	return "log-" + base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:18])
}

// withID gives an event as somebody wrote it an id, if it has none. Of two ids
// the later counts.
func withID(raw []byte, has, id string) json.RawMessage {
	if has != "" {
		return bytes.Clone(raw)
	}
	end := bytes.LastIndexByte(raw, '}')
	return fmt.Appendf(nil, `%s,"id":%q}`, raw[:end], id)
}

// toEvent returns the event of an input.
func toEvent(in *event.Input, id string) (json.RawMessage, error) {
	e := agentcollect.Event{
		Type: string(in.Type), ID: id, TS: in.At,
		Host: in.Host, Path: in.Path, Method: in.Method, Status: in.Status, ContentType: in.ContentType,
		DurationMS: float64(in.Duration.Microseconds()) / 1000, Bytes: in.Bytes,
		Signals: agentcollect.Signals{
			Via: in.Via, UTMSource: in.UTMSource, UTMMedium: in.UTMMedium, UTMCampaign: in.UTMCampaign, Ref: in.Ref, VT: in.VT,
			Source: "log", UserAgent: in.UserAgent, Accept: in.Accept,
			Signature: in.Signature, SignatureInput: in.SignatureInput, SignatureAgent: in.SignatureAgent,
		},
	}
	if in.IP != (netip.Addr{}) {
		e.Signals.IP = in.IP.String()
	}
	if in.ReferrerHost != "" {
		e.Signals.Referrer = "https://" + in.ReferrerHost + in.ReferrerPath
	}
	return marshal(e)
}
