package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/runner/pick/reason"
)

// maxSites is how many sites are printed; JSON has all.
const maxSites = 15

// print writes one report: a line with the counts, then a table for each part.
func (o *explainOptions) print(r explain.Report, more bool) error {
	if more {
		_, _ = fmt.Fprintln(o.env.Stdout)
	}
	head := fmt.Sprintf("%s in %s: %d answers, %d picked, %d considered and lost (%s of those that considered it), %d never named it",
		r.Tool, r.Category, r.NTrials, r.Picked, r.Lost, rejectedRate(r.Counts), r.NotConsidered)
	if r.Synthetic {
		head += "; synthetic: simulated agents"
	}
	_, _ = io.WriteString(o.env.Stdout, printableText(head+"\n"))
	reasons := table{header: []string{"reason", "answers", "share"}}
	for _, g := range r.Reasons {
		reasons.add(reasonText(g.Reason), fmt.Sprint(g.NTrials), percent(g.Share))
	}
	quotes := table{header: []string{"reason", "trial", "agent", "picked", "quote"}}
	for _, g := range r.Reasons {
		for _, q := range g.Quotes[:min(o.quotes, len(g.Quotes))] {
			quotes.add(reasonText(g.Reason), q.Trial, q.Agent, q.Picked, q.Text)
		}
	}
	moves := table{header: []string{"took", "outcome", "considered it", "did not"}}
	for _, s := range r.Switches {
		moves.add(s.To, s.Outcome, fmt.Sprint(s.Considered), fmt.Sprint(s.Rest))
	}
	sites := table{header: []string{"site", "answers", "opened", "picked it", "most read page"}}
	for _, s := range r.Sources[:min(maxSites, len(r.Sources))] {
		domain := s.Domain
		if s.Own {
			domain += " (own)"
		}
		most := "-" // a server leaves pages out where there are too many
		if len(s.Pages) > 0 {
			most = s.Pages[0].URL
		}
		sites.add(domain, fmt.Sprint(s.NTrials), fmt.Sprint(s.Opened), fmt.Sprint(s.Picked), most)
	}
	for _, part := range []struct {
		title string
		table table
	}{
		{"why it was not picked", reasons}, {"quotes", quotes}, {"what answers took instead", moves},
		{"by agent", cutTable(r.Agents)}, {"by tag", cutTable(r.Tags)}, {"sites read before the answer", sites},
	} {
		if len(part.table.rows) == 0 {
			continue
		}
		_, _ = fmt.Fprintf(o.env.Stdout, "\n%s\n", part.title)
		if err := part.table.print(o.env, format{}); err != nil {
			return err
		}
	}
	return nil
}

// cutTable lists cuts, with the most frequent reason and rival of each.
func cutTable(cuts []explain.Cut) table {
	t := table{header: []string{"group", "answers", "picked", "lost", "rejected rate", "not considered", "first reason", "mostly took"}}
	for _, c := range cuts {
		group := c.Value
		if c.Tag != "" {
			group = c.Tag + "=" + c.Value
		}
		first, took := "-", "-"
		if len(c.Reasons) > 0 {
			first = reasonText(c.Reasons[0].Reason)
		}
		most := 0
		for _, s := range c.Switches {
			if s.Considered+s.Rest > most {
				took, most = s.To, s.Considered+s.Rest
			}
		}
		t.add(group, fmt.Sprint(c.NTrials), fmt.Sprint(c.Picked), fmt.Sprint(c.Lost), rejectedRate(c.Counts), fmt.Sprint(c.NotConsidered), first, took)
	}
	return t
}

func rejectedRate(c explain.Counts) string {
	if c.RejectedRate == nil {
		return "-"
	}
	return percent(*c.RejectedRate)
}

// reasonText is the name of a reason on a terminal.
func reasonText(r reason.Reason) string {
	if r == reason.LockIn {
		return "lock-in"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}
