package trafficdb

import (
	"context"
	"database/sql"
	"time"
)

// An Agent counts an agent's visits in a window.
type Agent struct {
	Agent, Operator, Class string // Agent is empty for one without a name
	// Touches counts all visits, also spoofed ones. Pages counts the pages
	// that genuine ones got.
	Touches, Pages int64
	// By verdict. Spoofed touches are from addresses that the agent's operator does not
	// publish. The other Touches have no claim that could be verified.
	Verified, Spoofed, Unverifiable, Stale, NoIP int64
	// Answered counts the genuine touches whose status is known, OK those below 400.
	Answered, OK      int64
	FirstAt, LastSeen time.Time // in the window
}

// OKRate returns the share of successful responses to genuine touches, 0 to 1; false
// without a known status.
func (a *Agent) OKRate() (float64, bool) {
	if a.Answered == 0 {
		return 0, false
	}
	return float64(a.OK) / float64(a.Answered), true
}

// Agents returns the agents of the headline classes, the most frequent first.
func (db *DB) Agents(ctx context.Context, workspace string, w Window, p Page) ([]Agent, error) {
	return ask(ctx, db, "agents", func(rows *sql.Rows) (a Agent, err error) {
		err = rows.Scan(&a.Agent, &a.Operator, &a.Class, &a.Touches, &a.Pages, &a.Verified, &a.Spoofed, &a.Unverifiable, &a.Stale, &a.NoIP,
			&a.Answered, &a.OK, &a.FirstAt, &a.LastSeen)
		return a, err
	}, w.only(workspace, p.args()...)...)
}

// A PageRead is how often agents read a page.
type PageRead struct {
	Host, Path string
	Touches    int64
	ByClass    map[string]int64 // adds up to Touches; classes that did not come are not in it
	Agents     []string         // by name, 20 at most
	LastAt     time.Time
}

// Pages returns the pages that agents got, those read most first. A page that
// was answered with a failure is in Gaps.
func (db *DB) Pages(ctx context.Context, workspace string, w Window, p Page) ([]PageRead, error) {
	counts := newByClass()
	return ask(ctx, db, "pages", func(rows *sql.Rows) (PageRead, error) {
		var r PageRead
		var agents string
		to := append([]any{&r.Host, &r.Path, &r.Touches}, counts.targets()...)
		err := rows.Scan(append(to, &agents, &r.LastAt)...)
		r.ByClass, r.Agents = counts.counted(), names(agents)
		return r, err
	}, w.only(workspace, p.args()...)...)
}

// A Gap is a page that agents requested and did not get.
type Gap struct {
	Kind       string
	Status     int
	Host, Path string
	Touches    int64
	// Asked counts the touches on behalf of a person: fetches for users, agentic
	// browsers and coding agents.
	Asked  int64
	Agents []string // by name, 20 at most
	LastAt time.Time
}

// Gaps returns the pages that agents did not get, by the number of people's requests.
func (db *DB) Gaps(ctx context.Context, workspace string, w Window, p Page) ([]Gap, error) {
	return ask(ctx, db, "gaps", func(rows *sql.Rows) (Gap, error) {
		var g Gap
		var agents string
		err := rows.Scan(&g.Kind, &g.Status, &g.Host, &g.Path, &g.Touches, &g.Asked, &agents, &g.LastAt)
		g.Agents = names(agents)
		return g, err
	}, w.only(workspace, p.args()...)...)
}

// A Noise counts visits of one class that is not an agent.
type Noise struct {
	Class   string // of agentid, or traffic.NoiseSpoofed
	Touches int64
	Agents  []string // the most frequent names, 5 at most
	Pages   []string // the most visited pages, as host and path, 5 at most
	LastAt  time.Time
}

// Noise counts the visits that the other reports exclude, by class. There are a dozen
// classes at most.
func (db *DB) Noise(ctx context.Context, workspace string, w Window) ([]Noise, error) {
	return ask(ctx, db, "noise", func(rows *sql.Rows) (Noise, error) {
		var n Noise
		var agents, pages string
		err := rows.Scan(&n.Class, &n.Touches, &agents, &pages, &n.LastAt)
		n.Agents, n.Pages = names(agents), names(pages)
		return n, err
	}, w.only(workspace)...)
}
