// Package change decides what changed in the traffic of a workspace. It is pure:
// Detect evaluates one table of kinds over Facts. Reports list the conditions of
// their window, and alerts notify of those of the last day, so that both agree.
package change

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Kind is one row of the table: all there is to know about a kind of change.
type Kind struct {
	// Alert is the type in webhooks; empty for a kind that only reports list.
	Alert string
	// Report is the code in the changes of a report; empty for a kind that only
	// alerts notify of. It differs from Alert where the two were published apart.
	Report string
	// Doc describes the alert for receivers of webhooks, in Markdown.
	Doc    string
	Detect func(*Facts) []Condition
	// Over reports whether an open alert, whose condition last held at seen, may be
	// closed, so that the next occurrence is a new alert. Nil for never.
	Over func(f *Facts, seen time.Time) bool
	// Sentence describes a row on a page; Page is the page with the details, and
	// empty for that of the row's agent.
	Sentence func(r *Row, baseline time.Duration) string
	Page     string
}

// Kinds returns the table. Alerts of one look come in its order.
func Kinds() []Kind {
	return append([]Kind{silence(), silenceOver(), newAgent(), firstAgents(), spoofBurst(), notFound(), fetchDrop(), spike()}, pickKinds()...)
}

// KindOfReport returns the kind with a code in reports.
func KindOfReport(code string) (Kind, bool) {
	return find(func(k Kind) bool { return k.Report == code && code != "" })
}

// KindOfAlert returns the kind with a type in webhooks.
func KindOfAlert(code string) (Kind, bool) {
	return find(func(k Kind) bool { return k.Alert == code && code != "" })
}

func find(match func(Kind) bool) (Kind, bool) {
	kinds := Kinds()
	if i := slices.IndexFunc(kinds, match); i >= 0 {
		return kinds[i], true
	}
	return Kind{}, false
}

// Docs describes every alert, in Markdown.
func Docs() string {
	var out strings.Builder
	for _, k := range Kinds() {
		if k.Alert != "" {
			out.WriteString("### `" + k.Alert + "`\n\n" + k.Doc + "\n\n")
		}
	}
	return out.String()
}

// A Condition holds for a workspace at a moment.
type Condition struct {
	Alert   string    // Kind.Alert
	Subject string    // distinguishes conditions of a kind
	Seen    time.Time // when it last held
	Data    Data      // for webhooks and mail; nil without an alert
	Rows    []Row     // for reports; empty if only alerts notify of it
}

// Data is the data of a webhook, as JSON: fields are only ever added. It holds no
// personal data: parts of a path that may be personal are masked.
type Data interface {
	// Describe returns the alert in a sentence, and lines with the details.
	Describe() (summary string, details []string)
}

// A Row is a change as reports list it.
type Row struct {
	What                       string // Kind.Report
	Agent, Class, Host, Folder string
	// Now counts visits of the window, Before those of the baseline before it.
	Now, Before int64
	Since       time.Time // the first visit; of silence the last event
}

// Detect returns the conditions that hold, in the order of Kinds and the most
// important of each kind first.
func Detect(f *Facts) []Condition {
	if f.FirstAt.IsZero() && f.Picks == nil {
		return nil
	}
	var out []Condition
	for _, k := range Kinds() {
		for _, c := range k.Detect(f) {
			c.Alert = k.Alert
			for i := range c.Rows {
				c.Rows[i].What = k.Report
			}
			out = append(out, c)
		}
	}
	return out
}

// Rows returns the conditions as reports list them, by kind and then by size.
func Rows(conditions []Condition) []Row {
	var out []Row
	for _, c := range conditions {
		out = append(out, c.Rows...)
	}
	sorting.Func(out, func(a, b Row) int {
		return cmp.Or(strings.Compare(a.What, b.What), cmp.Compare(b.Now, a.Now), cmp.Compare(b.Before, a.Before),
			strings.Compare(a.Agent, b.Agent), strings.Compare(a.Host+a.Folder, b.Host+b.Folder), strings.Compare(a.Class, b.Class))
	})
	return out
}
