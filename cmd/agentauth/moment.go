package agentauth

import (
	"encoding/json"
	"time"
)

// A moment is a time as services write it: RFC 3339, or seconds since 1970.
// Any other form reads as the zero time: a registration that is made once must
// not be lost over it.
type moment struct{ time.Time }

// UnmarshalJSON reads either form.
func (m *moment) UnmarshalJSON(raw []byte) error {
	var text string
	var seconds float64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		m.Time, _ = time.Parse(time.RFC3339, text)
	case json.Unmarshal(raw, &seconds) == nil && seconds > 0 && seconds < 1<<40:
		m.Time = time.Unix(int64(seconds), 0).UTC()
	}
	return nil
}
