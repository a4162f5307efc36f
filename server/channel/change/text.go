package change

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/firstpick/firstpick/server/kit/chart"
)

// compared renders the counts of a row and its baseline.
func compared(r *Row, baseline time.Duration) string {
	return fmt.Sprintf("%s in this window, %s in the %s before", chart.Whole(r.Now), chart.Whole(r.Before), count(int64(baseline/day), "day"))
}

func name(agent string) string {
	if agent == "" {
		return "an unnamed agent"
	}
	return agent
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return chart.Whole(n) + " times"
}

func show(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

func round(f float64) float64 { return math.Round(f*100) / 100 }

func words(class string) string { return strings.ReplaceAll(Clean(class), "_", " ") }

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = Clean(n)
	}
	return strings.Join(out, ", ")
}

// cleanMax bounds a name or path in a text, in characters.
const cleanMax = 120

// Clean makes one short printable line of text from outside.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if runes := []rune(s); len(runes) > cleanMax {
		return string(runes[:cleanMax]) + "..."
	}
	return s
}

// Segments of a path that mask takes for personal data.
const (
	maskDigits = 6  // in a row
	maskNumber = 9  // digits with separators between, which is more than a date has
	maskToken  = 20 // bytes of letters mixed with digits
	maskLength = 48
)

// mask replaces segments of a path that may identify a person by a star: an email
// address, a long number, a token.
func mask(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		run, row, number, all := 0, 0, 0, 0 // digits in a row, and without a letter between
		letters := false
		for _, r := range s {
			switch {
			case unicode.IsDigit(r):
				run, all = run+1, all+1
				row, number = max(row, run), max(number, all)
			case unicode.IsLetter(r):
				run, all, letters = 0, 0, true
			default:
				run = 0
			}
		}
		token := number > 0 && letters && len(s) >= maskToken && !strings.Contains(s, "-")
		if row >= maskDigits || number >= maskNumber || token || len(s) > maskLength || strings.Contains(s, "@") || strings.Contains(strings.ToLower(s), "%40") {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}
