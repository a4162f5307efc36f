package trialset

import "fmt"

// A Level is how much of each trial is published.
type Level string

// The levels.
const (
	// Full has the redacted answer, its cost and duration, and the result with evidence.
	Full Level = "full"
	// Quotes has the result and its evidence with quotes, without the answer.
	Quotes Level = "quotes"
	// None has the result and its evidence without quotes, paths and lines.
	None Level = "none"
)

// ParseLevel returns the level of a name.
func ParseLevel(name string) (Level, error) {
	switch l := Level(name); l {
	case Full, Quotes, None:
		return l, nil
	}
	return "", fmt.Errorf("evidence %q: it is full, quotes or none", name)
}
