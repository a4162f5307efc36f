package alert

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
)

// Data is what an alert tells. Its JSON is the data of a webhook: fields are only
// ever added. It holds no personal data: what may be some in a path is masked.
type Data interface {
	// tell returns the alert in a sentence, and lines with the details.
	tell() (summary string, details []string)
}

// SeenAgent is an agent that came.
type SeenAgent struct {
	Agent     string    `json:"agent"`
	Class     string    `json:"class"`
	FirstSeen time.Time `json:"firstSeen"`
	Touches   int64     `json:"touches"` // of the last 24 hours
}

// NewAgentData tells of an agent that was never here before.
type NewAgentData SeenAgent

func (d NewAgentData) tell() (string, []string) {
	return fmt.Sprintf("New agent: %s (%s).", clean(d.Agent), words(d.Class)),
		[]string{fmt.Sprintf("First visit at %s, %s in the last 24 hours.", show(d.FirstSeen), count(d.Touches, "time"))}
}

// FirstAgentsData tells who came on a workspace's first day.
type FirstAgentsData struct {
	Total  int         `json:"total"`
	Agents []SeenAgent `json:"agents"` // those that came most often
}

func (d FirstAgentsData) tell() (string, []string) {
	var details []string
	for _, a := range d.Agents {
		details = append(details, fmt.Sprintf("%s (%s): %s", clean(a.Agent), words(a.Class), count(a.Touches, "visit")))
	}
	return fmt.Sprintf("First day: %s visited.", count(int64(d.Total), "agent")), details
}

// SpoofBurstData tells of an hour in which many came under false names.
type SpoofBurstData struct {
	Hour         time.Time `json:"hour"` // its beginning
	Touches      int64     `json:"touches"`
	UsualPerHour float64   `json:"usualPerHour"` // the average of the week before
	Agents       []string  `json:"agents"`       // the names that were used in the last 24 hours
}

func (d SpoofBurstData) tell() (string, []string) {
	return fmt.Sprintf("Spoofing: %s in one hour from addresses outside the ranges of the agents they name.", count(d.Touches, "visit")),
		[]string{
			fmt.Sprintf("The hour began at %s; the usual rate is %.1f per hour.", show(d.Hour), d.UsualPerHour),
			"Names used: " + list(d.Agents),
			"They are counted as spoofed, not as visits of these agents.",
		}
}

// NotFoundData tells of a folder where agents miss pages.
type NotFoundData struct {
	Folder    string    `json:"folder"` // host and path
	Pages     int64     `json:"pages"`  // different ones
	Misses    int64     `json:"misses"`
	Agents    []string  `json:"agents"`
	Examples  []string  `json:"examples"` // paths
	FirstSeen time.Time `json:"firstSeen"`
}

func (d NotFoundData) tell() (string, []string) {
	details := []string{"Agents: " + list(d.Agents), fmt.Sprintf("First at %s. Examples:", show(d.FirstSeen))}
	for _, path := range d.Examples {
		details = append(details, "  "+clean(path))
	}
	return fmt.Sprintf("Missing pages: agents requested %s below %s that do not exist, %s in 24 hours.",
		count(d.Pages, "page"), clean(d.Folder), count(d.Misses, "time")), details
}

// FetchDropData tells of a day with few fetches that people caused.
type FetchDropData struct {
	Fetches     int64   `json:"fetches"` // in 24 hours
	WeekAgo     int64   `json:"weekAgo"` // in the same 24 hours a week earlier
	UsualPerDay float64 `json:"usualPerDay"`
}

func (d FetchDropData) tell() (string, []string) {
	return fmt.Sprintf("User fetches dropped: assistants read %s in 24 hours, and %d a week ago.", count(d.Fetches, "page"), d.WeekAgo),
		[]string{fmt.Sprintf("The usual rate is %.0f per day. Check for moved pages, and for a robots.txt or firewall that blocks agents.", d.UsualPerDay)}
}

// SilenceData tells that events stopped.
type SilenceData struct {
	LastEventAt time.Time `json:"lastEventAt"`
}

func (d SilenceData) tell() (string, []string) {
	return "No events for 24 hours.", []string{
		fmt.Sprintf("Last event at %s. Check that the collector is installed and its key is valid.", show(d.LastEventAt)),
		"We notify you when events arrive again.",
	}
}

// SilenceOverData tells that events come again.
type SilenceOverData struct {
	SilentSince time.Time `json:"silentSince"`
	BackAt      time.Time `json:"backAt"`
}

func (d SilenceOverData) tell() (string, []string) {
	return "Events arrive again.", []string{fmt.Sprintf("No events from %s to %s.", show(d.SilentSince), show(d.BackAt))}
}

// TestData is in an alert that somebody asked for.
type TestData struct {
	Message string `json:"message"`
}

func (d TestData) tell() (string, []string) { return d.Message, nil }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func show(t time.Time) string { return t.UTC().Format("2 January 2006 15:04 UTC") }

func round(f float64) float64 { return math.Round(f*100) / 100 }

func words(class string) string { return strings.ReplaceAll(clean(class), "_", " ") }

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func list(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = clean(n)
	}
	return strings.Join(out, ", ")
}

// cleanMax bounds a name or path in a text, in characters.
const cleanMax = 120

// clean makes one short line of what a stranger sent.
func clean(s string) string {
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

// The segments of a path that mask takes for a person's.
const (
	maskDigits = 6  // in a row
	maskNumber = 9  // digits with separators between, which is more than a date has
	maskToken  = 20 // bytes of letters mixed with digits
	maskLength = 48
)

// mask replaces segments of a path that may name a person by a star: an address
// of mail, a long number, a token.
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
