package alert

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	digestWeek  = 7 * 24 * time.Hour
	digestHour  = 8  // UTC, on Mondays
	digestLost  = 10 // prompts
	digestTools = 5  // of the picture
)

// nextDigest returns the first Monday morning after a time.
func nextDigest(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	at := time.Date(y, m, d, digestHour, 0, 0, 0, time.UTC).AddDate(0, 0, (8-int(now.UTC().Weekday()))%7)
	if !at.After(now) {
		at = at.AddDate(0, 0, 7)
	}
	return at
}

// digest puts the due digest of a workspace into the outbox, once among all servers. A week
// without a measurement has none.
func (s *Service) digest(ctx context.Context, w *state.Workspace, watch *state.PickWatch, m *picks.Measured, now time.Time) error {
	if next := nextDigest(now); watch.DigestAt.Sub(next) > digestWeek { // a clock was ahead when it was stored
		return s.DB.Write(ctx, func(tx *state.Tx) error {
			_, err := tx.ClaimDigest(ctx, w.ID, watch.DigestAt, next)
			return err
		})
	}
	if watch.Tool == "" || watch.DigestOff || watch.DigestAt.IsZero() || now.Before(watch.DigestAt) {
		return nil
	}
	var subject string
	var text []string
	var picture *mail.Picture
	if m != nil {
		visits, err := s.weekVisits(ctx, w.ID, now)
		if err != nil {
			return err
		}
		subject, text = describeWeek(m, visits, now)
		if picture, err = s.digestPicture(m); err != nil {
			return err
		}
	}
	sent := false
	err := s.transact(ctx, func(u *unit) error {
		mine, err := u.tx.ClaimDigest(ctx, w.ID, watch.DigestAt, nextDigest(now))
		if err != nil || !mine || m == nil {
			return err
		}
		if on, err := u.tx.AlertMail(ctx, w.ID); err != nil || !on {
			return err
		}
		sent, err = u.mailPicture(w, subject, text, picture)
		return err
	})
	if err == nil && sent {
		s.Kick()
	}
	return err
}

// weekVisits counts the visits of agents in the week before; negative where this server has
// no reports.
func (s *Service) weekVisits(ctx context.Context, workspace string, now time.Time) (int64, error) {
	if s.Visits == nil {
		return -1, nil
	}
	return s.Visits(ctx, workspace, now.Add(-digestWeek), now)
}

// describeWeek returns the subject and the lines of a digest.
func describeWeek(m *picks.Measured, visits int64, now time.Time) (subject string, text []string) {
	at := m.Standing()
	name := change.Clean(at.Tool)
	subject = fmt.Sprintf("This week: %s picked in %s", name, chart.Percent(at.PickRate))
	text = append(text, fmt.Sprintf("Agents pick %s in %s of their answers (95%% interval %s to %s): rank %d of %d.", name,
		chart.Percent(at.PickRate), chart.Percent(at.CILow), chart.Percent(at.CIHigh), at.Rank, m.Board.Field))
	before, when, ok := m.Before(now.Add(-digestWeek))
	if !ok {
		before, when, ok = m.Before(now)
	}
	switch {
	case !ok:
		text = append(text, "There is no earlier measurement to compare with.")
	default:
		verdict := "The measurements do not show a change."
		if drop, dropped := m.Drop(); dropped {
			verdict = "A drop is shown since " + drop.Since.UTC().Format("2 January") + "."
		}
		text = append(text, fmt.Sprintf("On %s it was %s: %s. %s", when.UTC().Format("2 January"), chart.Percent(before.PickRate), moved(at.PickRate-before.PickRate), verdict))
	}
	text = append(text, "", overtakenLine(m, name, now), "")
	if lost := m.Lost(); len(m.Board.Prompts) > 0 {
		text = append(text, fmt.Sprintf("Prompts where another tool is picked more often: %d of %d.", len(lost), len(m.Board.Prompts)))
		if few := picks.Few(lost); few != "" {
			text = append(text, few)
		}
		for _, l := range lost[:min(len(lost), digestLost)] {
			text = append(text, fmt.Sprintf("  %s: %s %d, %s %d of %d", change.Clean(l.Prompt), change.Clean(l.Rival), l.RivalPicks, name, l.Picks, l.Trials))
		}
		text = append(text, "")
	}
	if visits >= 0 {
		text = append(text, "Visits by agents in seven days: "+chart.Whole(visits)+".")
	}
	return subject, append(text, sourceLine(m), "Details: "+m.URL, "")
}

func moved(diff float64) string {
	switch {
	case diff > 0:
		return "up " + picks.Points(diff)
	case diff < 0:
		return "down " + picks.Points(diff)
	}
	return "unchanged"
}

func overtakenLine(m *picks.Measured, name string, now time.Time) string {
	var by []string
	for _, o := range m.Overtaken() {
		if !o.Since.Before(now.Add(-digestWeek)) {
			by = append(by, change.Clean(m.Rival(o.By).Tool))
		}
	}
	if len(by) == 0 {
		return "No rival overtook " + name + " this week."
	}
	return "Overtook " + name + " this week: " + strings.Join(by, ", ") + "."
}

func sourceLine(m *picks.Measured) string {
	line := "Measured: public board of " + change.Clean(m.Board.Name)
	if m.Source == picks.Own {
		line = "Measured: your own eval of " + change.Clean(m.Board.Name)
	}
	if m.Board.AsOf != nil {
		line += ", " + m.Board.AsOf.UTC().Format("2 January 2006")
	}
	if m.Board.Synthetic {
		line += ". The agents are simulated"
	}
	return line + "."
}

// digestPicture draws the rates of the first tools and of the own one, with a description.
func (s *Service) digestPicture(m *picks.Measured) (*mail.Picture, error) {
	if s.Picture == nil {
		return nil, nil
	}
	bars, alt := []Bar{}, []string{}
	own := m.Standing()
	for i, t := range m.Board.Tools {
		if t.Slug != own.Slug && (i >= digestTools || i == digestTools-1 && own.Rank > digestTools) {
			continue
		}
		if len(bars) < digestTools {
			bars = append(bars, Bar{change.Clean(t.Tool), chart.Percent(t.PickRate), t.PickRate, t.Slug == own.Slug})
			alt = append(alt, change.Clean(t.Tool)+" "+chart.Percent(t.PickRate))
		}
	}
	small := change.Clean(m.Board.Name)
	if m.Board.Synthetic {
		small += " · simulated agents"
	}
	png, err := s.Picture(small, "Picked by agents: "+change.Clean(own.Tool)+" "+chart.Percent(own.PickRate), sourceLine(m), bars)
	if err != nil {
		return nil, err
	}
	return &mail.Picture{Name: "pick-rates.png", PNG: png, Alt: "Pick rates in " + small + ": " + strings.Join(alt, ", ") + "."}, nil
}

// A Bar is a tool in the picture of a digest.
type Bar struct {
	Name, Value string
	Rate        float64
	Own         bool
}
