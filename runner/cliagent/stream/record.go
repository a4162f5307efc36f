package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A recorder is the common part of all parsers: it numbers and emits events and collects
// the outcome.
type recorder struct {
	emit func(Event)
	seq  int

	// The position of the current line; size is 0 outside of one.
	at        time.Duration
	off, size int64
	// first and began are the stream's clock and ours at its first timestamp; latest is
	// the last timestamp by our clock.
	first         time.Time
	began, latest time.Duration

	out     Outcome
	final   []byte // the last message so far
	message string // the message's id, while it is incomplete
	blank   blank
	ended   bool

	calls        map[string]Tool // unfinished
	callBytes    int
	commandBytes int
	commandIDs   []string // of the calls of out.Commands

	trouble trouble
}

// A blank is white space at the start or inside of a message, buffered until more of
// the message follows.
type blank struct{ text, message string }

func newRecorder(emit func(Event)) *recorder {
	return &recorder{emit: emit, calls: map[string]Tool{}}
}

// Ended, File and Stderr suit most formats.
func (r *recorder) Ended() bool { return r.ended }

func (r *recorder) File([]byte) {}

func (r *recorder) Stderr(at time.Duration, line []byte) {
	r.outsideLine(at)
	r.trouble.stderr(line)
}

// outsideLine sets the position of events that are not on a line of standard output.
func (r *recorder) outsideLine(at time.Duration) { r.at, r.size = at, 0 }

// object decodes a line that is a JSON object. Members of an unexpected type are ignored.
func (r *recorder) object(at time.Duration, off int64, line []byte, into any) bool {
	r.at, r.off, r.size = at, off, int64(len(line))
	return object(line, into)
}

func object(text []byte, into any) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	err := json.Unmarshal(text, into)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}

// clock sets the time of a line from its timestamp and ignores impossible ones. A line
// without timestamp is never before the previous line.
func (r *recorder) clock(t time.Time) {
	if t.Year() < 2000 {
		r.at = max(r.at, r.latest)
		return
	}
	if r.first.IsZero() {
		r.first, r.began = t, r.at
	}
	if d := t.Sub(r.first); d >= 0 && d < 30*24*time.Hour {
		r.at = r.began + d
		r.latest = r.at
	}
}

func (r *recorder) event(e Event) {
	r.seq++
	e.Seq, e.At = r.seq, r.at
	if r.size > 0 {
		e.RawOff, e.RawLen = r.off, r.size
	}
	r.emit(e)
}

func (r *recorder) system(text string) { r.event(Event{Kind: KindSystem, Text: text}) }

func (r *recorder) think(text, by string) {
	if strings.TrimSpace(text) != "" {
		r.acted()
		r.event(Event{Kind: KindReasoning, Text: text, Agent: by})
	}
}

// addText records text of the agent. Texts with the same non-empty id are one message
// until a tool call.
func (r *recorder) addText(text, id, by string) {
	if strings.TrimSpace(text) == "" {
		if by == "" && id != "" {
			if r.blank.message != id {
				r.blank = blank{message: id}
			}
			r.blank.text = inert.Truncate(r.blank.text+text, maxMessage)
		}
		return
	}
	if by == "" {
		if id != "" && r.blank.message == id {
			text = r.blank.text + text
		}
		r.blank = blank{}
	}
	r.acted()
	r.event(Event{Kind: KindText, Text: text, Agent: by})
	if by != "" {
		return
	}
	if id == "" || id != r.message {
		r.final = r.final[:0]
	}
	r.message = id
	r.keep(text)
}

// endMessage ends the message: further text begins another.
func (r *recorder) endMessage() { r.message, r.blank = "", blank{} }

// keep appends to the last message, up to MaxFinal.
func (r *recorder) keep(text string) {
	if left := MaxFinal - len(r.final); len(text) > left {
		text = inert.Truncate(text, left)
		r.note("the last message was cut at 2 MiB")
	}
	r.final = append(r.final, text...)
}

// acted records that the model acts: earlier errors are over.
func (r *recorder) acted() {
	r.out.Answered = true
	r.trouble.clear()
}

// spend adds the tokens of a line.
func (r *recorder) spend(u prices.Usage, cost *float64) {
	if r.out.Usage != nil {
		sum := r.out.Usage.Plus(u)
		r.out.Usage = &sum
	} else {
		r.out.Usage = &u
	}
	if cost = money(cost); cost != nil {
		sum := *cost
		if r.out.CostUSD != nil {
			sum += *r.out.CostUSD
		}
		r.out.CostUSD = &sum
	}
	r.event(Event{Kind: KindUsage, Usage: &u, CostUSD: cost})
}

func (r *recorder) note(text string) {
	for _, n := range r.out.Notes {
		if n == text {
			return
		}
	}
	r.out.Notes = append(r.out.Notes, text)
}

// command records a finished shell command by the id of its call.
func (r *recorder) command(id string, c transcript.Command) {
	if r.commandBytes += len(c.Cmd); r.commandBytes > MaxCommands {
		r.commandBytes -= len(c.Cmd)
		r.note("commands above 2 MiB were left out")
		return
	}
	r.out.Commands = append(r.out.Commands, c)
	r.commandIDs = append(r.commandIDs, inert.Truncate(id, maxID))
}

// source records a web page.
func (r *recorder) source(url string, opened bool) {
	if i := slices.IndexFunc(r.out.Sources, func(s transcript.Source) bool { return s.URL == url }); i >= 0 {
		r.out.Sources[i].Opened = r.out.Sources[i].Opened || opened
		return
	}
	if len(r.out.Sources) == maxSources {
		r.note(fmt.Sprintf("pages of the web above %d were left out", maxSources))
		return
	}
	r.out.Sources = append(r.out.Sources, transcript.Source{URL: url, Opened: opened})
}

// deny removes the command of a call that, as the CLI reports at the end, never ran.
func (r *recorder) deny(id string) {
	if i := slices.Index(r.commandIDs, inert.Truncate(id, maxID)); i >= 0 && id != "" {
		r.out.Commands = slices.Delete(r.out.Commands, i, i+1)
		r.commandIDs = slices.Delete(r.commandIDs, i, i+1)
	}
}

// answer ends the stream with an answer.
func (r *recorder) answer() Outcome {
	r.out.Final = string(r.final)
	if !r.out.Answered && r.out.Stop == transcript.StopEnd {
		return r.fail(silent())
	}
	r.event(Event{Kind: KindFinal, Text: r.out.Final, Usage: r.out.Usage, CostUSD: r.out.CostUSD})
	return r.out
}

// fail ends the stream without one.
func (r *recorder) fail(f *Failure) Outcome {
	r.out.Final = string(r.final)
	if f.Until.IsZero() {
		f.Until = r.trouble.until
	}
	r.out.Fail = f
	if !r.trouble.reported {
		r.event(Event{Kind: KindError, Text: f.Message})
	}
	return r.out
}

// timeOf parses a time such as 2026-11-21T00:08:23.153Z; zero if it is invalid.
func timeOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// money returns a valid amount, otherwise nil.
func money(v *float64) *float64 {
	if v == nil || *v < 0 || *v > 1e6 {
		return nil
	}
	return v
}

// A count decodes a number or a string of digits.
type count float64

func (c count) int() int { return int(min(max(c, 0), 1e12)) }

// exit returns an exit status; nil if it is missing.
func (c *count) exit() *int {
	if c == nil {
		return nil
	}
	n := int(max(min(*c, 1<<31), -1<<31))
	return &n
}
