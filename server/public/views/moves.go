package views

import (
	"math"
	"time"

	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Move is a change of a rate since the snapshot before.
type Move struct {
	Category, Board, Slug, Tool string
	From, To                    float64 // pick rates of the boards
	// Diff is the change with the agents and prompts that both snapshots have, with its 95 %
	// interval. It may differ a little from To - From.
	Diff, Low, High float64
	Significant     bool
	// Since is the time of the last trial before; nil where it is unknown.
	Since *time.Time
}

// A move is a Move for a page.
type move struct {
	Tool, Link, Board, BoardLink string
	From, To, Diff, Interval     string
	Up, Significant              bool
	Since                        string // a day; empty where it is unknown
}

// moves formats the changes since the snapshot before, the first n.
func (r *Renderer) moves(n int) (out []move) {
	for _, m := range r.in.Moves[:min(n, len(r.in.Moves))] {
		out = append(out, moveOf(m))
	}
	return out
}

func moveOf(m Move) move {
	since := ""
	if m.Since != nil {
		since = render.Day(m.Since)
	}
	return move{
		Since: since,
		Tool:  m.Tool, Link: toolPath(m.Slug), Board: m.Board, BoardLink: boardPath(m.Category), From: chart.Fixed(m.From), To: chart.Fixed(m.To),
		Diff: formatChange(m), Interval: render.PointsRange(m.Low, m.High), Up: m.Diff > 0, Significant: m.Significant,
	}
}

// formatChange formats the change of a rate. With the same agents and prompts it is the difference of
// the rates, and agrees with them as they are printed.
func formatChange(m Move) string {
	if math.Abs(m.Diff-(m.To-m.From)) < .0005 {
		return render.Difference(m.To, m.From)
	}
	return render.Points(m.Diff)
}
