package alert

import (
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
)

// Test is the type of the alert that an owner asks for.
const Test = "test"

// maxPerKind is how many alerts of one kind a workspace gets in 24 hours: names of
// agents and paths come from outside. The others wait.
const maxPerKind = 10

// wasAhead is how far ahead a time must be to be of a clock that was set back since. Such an
// alert is over when its condition is: waiting for that clock's time would hide the next one.
const wasAhead = 24 * time.Hour

// An Open alert was sent, and is not sent again while its condition holds.
type Open struct {
	What, Subject string
	At            time.Time // when it was sent
	Seen          time.Time // when its condition last held
}

// A Diff lists the changes to open alerts for the current conditions.
type Diff struct {
	New  []change.Condition // to send
	Held []Open             // to store with their later Seen
	Over []Open             // to close
}

// Compare evaluates facts and compares the conditions with the open alerts.
func Compare(f change.Facts, open []Open) Diff {
	var out Diff
	type key struct{ what, subject string }
	known, sent := map[key]Open{}, map[string]int{}
	for _, o := range open {
		known[key{o.What, o.Subject}] = o
		if since := f.Now.Sub(o.At); since < 24*time.Hour && since > -wasAhead {
			sent[o.What]++
		}
		if o.What == silence {
			f.SilentSince = o.Seen
		}
	}
	holds := map[key]bool{}
	for _, c := range change.Detect(&f) {
		k := key{c.Alert, c.Subject}
		if k.what == "" || holds[k] {
			continue
		}
		holds[k] = true
		switch o, was := known[k]; {
		case was && c.Seen.After(o.Seen):
			o.Seen = c.Seen
			out.Held = append(out.Held, o)
		case !was && sent[k.what] < maxPerKind:
			sent[k.what]++
			out.New = append(out.New, c)
		}
	}
	if f.FirstAt.IsZero() && f.Picks == nil {
		return out
	}
	for _, o := range open {
		kind, _ := change.KindOfAlert(o.What)
		ahead := o.Seen.Sub(f.Now) > wasAhead
		if !holds[key{o.What, o.Subject}] && kind.Over != nil && (ahead || kind.Over(&f, o.Seen)) {
			out.Over = append(out.Over, o)
		}
	}
	return out
}

// silence is the kind of alert whose end is an alert too.
const silence = "silence"

// TestData is the data of a test.
type TestData struct {
	Message string `json:"message"`
}

// Describe implements change.Data.
func (d TestData) Describe() (string, []string) { return d.Message, nil }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
