package snapshotview

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
)

// table is a board as a table, with a line for each tool.
func table(b analytics.Board, snapshot string) [][]any {
	out := [][]any{{
		"snapshot", "asOf", "synthetic", "observed", "category", "rank", "rankLow", "rankHigh", "tool", "slug", "pickRate", "ciLow", "ciHigh",
		"shortlistRate", "defaultRate", "picks", "nTrials", "warnings", "url",
	}}
	for _, s := range b.Tools {
		warnings := slices.Sorted(slices.Values(slices.Concat(b.Warnings, s.Warnings)))
		warnings = slices.Compact(warnings)
		out = append(out, []any{
			snapshot, stamp(b.AsOf), b.Synthetic, false, b.Category, s.Rank, s.RankLow, s.RankHigh, s.Tool, s.Slug, s.PickRate, s.CILow, s.CIHigh,
			s.ShortlistRate, s.DefaultRate, s.Picks, s.NTrials, strings.Join(warnings, " "), s.URL,
		})
	}
	return out
}

// observedTable is an observed board as a table: a line for each tool in all languages together, then one for
// each tool in each language of a board of several, then the same of each agent in each language, where a
// snapshot has the lines of the study. Parts of a board have no ranks: they are not tested.
func observedTable(b observed.Board, snapshot string) [][]any {
	out := [][]any{{
		"snapshot", "asOf", "synthetic", "observed", "category", "fieldStudy", "unit", "rank", "rankLow", "rankHigh", "tool", "slug", "useRate", "ciLow", "ciHigh",
		"uses", "repos", "nUnits", "nRepos", "warnings", "cite", "url", "language", "agent",
	}}
	whole := map[string]observed.Standing{}
	for _, s := range b.Tools {
		whole[s.Slug] = s
		out = append(out, []any{
			snapshot, stamp(b.AsOf), false, b.Observed, b.Category, b.FieldStudy, b.Unit, s.Rank, s.RankLow, s.RankHigh, s.Tool, s.Slug, s.UseRate, s.CILow, s.CIHigh,
			s.Uses, s.Repos, s.NUnits, b.NRepos, strings.Join(b.Warnings, " "), b.Cite(), s.URL, "all", "all",
		})
	}
	add := func(p observed.Part, language, agent string) {
		for _, t := range p.Tools {
			s := whole[t.Slug]
			out = append(out, []any{
				snapshot, stamp(b.AsOf), false, b.Observed, b.Category, b.FieldStudy, b.Unit, "", "", "", s.Tool, t.Slug, t.UseRate, t.CILow, t.CIHigh,
				t.Uses, "", p.NUnits, p.NRepos, strings.Join(p.Warnings, " "), b.Cite(), s.URL, language, agent,
			})
		}
	}
	if len(b.Languages) < 2 {
		for _, a := range b.Agents {
			add(a.Part, "all", a.Agent)
		}
		return out
	}
	for _, l := range b.Languages {
		add(l.Part, l.Language, "all")
	}
	for _, l := range b.Languages {
		for _, a := range l.Agents {
			add(a.Part, l.Language, a.Agent)
		}
	}
	return out
}

// promptTable is the prompts of a board as a table, with a line for each. Tags are NAME=VALUE.
func promptTable(b analytics.Board, snapshot string) [][]any {
	out := [][]any{{
		"snapshot", "synthetic", "observed", "category", "eval", "prompt", "family", "tags", "nTrials",
		"tool", "diy", "other", "none", "ambiguous", "refused", "truncated", "text", "sha256", "url",
	}}
	for _, p := range b.Prompts {
		tags := []string{}
		for _, name := range slices.Sorted(maps.Keys(p.Tags)) {
			tags = append(tags, name+"="+p.Tags[name])
		}
		o := p.Outcomes
		out = append(out, []any{
			snapshot, b.Synthetic, false, b.Category, p.Eval, p.Prompt, p.Family, strings.Join(tags, " "), p.NTrials,
			o.Tool, o.DIY, o.Other, o.None, o.Ambiguous, o.Refused, o.Truncated, p.Text, p.SHA256, p.URL,
		})
	}
	return out
}

// stamp is a time in RFC 3339; empty where it is unknown.
func stamp(at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
