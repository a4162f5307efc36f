package event

import (
	"strconv"
	"strings"
	"time"
)

// The rules of time.
const (
	SkewTolerance  = 60 * time.Second     // a sender's clock may differ by so much uncorrected
	FutureSlack    = 5 * time.Minute      // later than that is set to the arrival
	MaxAge         = 30 * 24 * time.Hour  // older is refused
	MaxBackfillAge = 400 * 24 * time.Hour // older is refused even when backfilled
)

// parseTime reads RFC 3339, or integer milliseconds since 1970.
func parseTime(s string) (time.Time, bool) {
	if decimal(s) {
		ms, err := strconv.ParseInt(s, 10, 64)
		// Less than 1e11 would be before 1973: it is seconds.
		if err != nil || ms < 1e11 || ms > 253402300799999 {
			return time.Time{}, false
		}
		return time.UnixMilli(ms).UTC(), true
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1970 {
		return time.Time{}, false
	}
	return t.UTC(), true
}

// logTime reads the times that logs have: RFC 3339, that of the common log
// format, or a number since 1970 whose size decides whether it counts seconds (with
// a fraction or not), milli-, micro- or nanoseconds.
func logTime(s string) (time.Time, bool) {
	whole, part, _ := strings.Cut(s, ".")
	if decimal(whole) && (part == "" || decimal(part)) && len(whole) <= 18+1 {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return time.Time{}, false
		}
		switch {
		case n < 1e11:
			ns, _ := strconv.ParseInt((part + "000000000")[:9], 10, 64)
			return time.Unix(n, ns).UTC(), true
		case n < 1e14:
			return time.UnixMilli(n).UTC(), true
		case n < 1e17:
			return time.UnixMicro(n).UTC(), true
		}
		return time.Unix(0, n).UTC(), true
	}
	layout := time.RFC3339
	if strings.Contains(s, "/") {
		layout = "02/Jan/2006:15:04:05 -0700"
	}
	t, err := time.Parse(layout, s)
	return t.UTC(), err == nil && t.Year() >= 1970
}

// settle gives each event its time, once all of the body is known, and refuses
// those that are too old.
func (r *reader) settle() {
	var skew time.Duration
	if !r.sentAt.IsZero() {
		if d := r.o.ReceivedAt.Sub(r.sentAt); d > SkewTolerance || d < -SkewTolerance {
			skew = d
		}
	}
	if r.backfill && r.o.Key != KindSecret {
		r.backfill = false
		r.notes.add(WarnBackfill, "backfill")
	}
	oldest, message := r.o.ReceivedAt.Add(-MaxAge), "ts is more than 30 days ago: send old events with \"backfill\": true and a secret key"
	if r.backfill {
		oldest, message = r.o.ReceivedAt.Add(-MaxBackfillAge), "ts is more than 400 days ago"
	}
	kept := r.batch.Inputs[:0]
	for i := range r.batch.Inputs {
		in := &r.batch.Inputs[i]
		in.Backfill = r.backfill
		if in.At.IsZero() {
			in.At = r.o.ReceivedAt
		} else {
			in.At = in.At.Add(skew)
		}
		if in.At.Sub(r.o.ReceivedAt) > FutureSlack {
			in.At = r.o.ReceivedAt
			r.notes.add(WarnClockAhead, "ts")
		}
		if in.At.Before(oldest) {
			r.refuse(in.Index, in.ID, &fault{TSTooOld, "ts", message})
			continue
		}
		kept = append(kept, *in)
	}
	clear(r.batch.Inputs[len(kept):])
	r.batch.Inputs = kept
}
