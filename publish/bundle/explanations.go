package bundle

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// limits are the first limits of the lists of a report.
func limits() explain.Limits {
	return explain.Limits{Quotes: 16, Sites: 32, Pages: 8, Switches: 8, Taken: 128, Cuts: 128}
}

// writeExplanations writes explanations.json. The file has a report of each tool of the
// category, and is read whole for one of them, so its size is limited: where it would be
// larger, the lists of all reports become shorter.
func (in Input) writeExplanations(ctx context.Context, run journal.Run, d *staging) (format.File, error) {
	e, err := in.explain(ctx, run)
	if err != nil {
		return format.File{}, err
	}
	for l := limits(); ; l = halve(l) {
		for i := range e.Reports {
			e.Reports[i].Limit(l)
		}
		data, err := content.JSON(e)
		if err != nil {
			return format.File{}, err
		}
		if len(data) <= format.MaxExplanations || l == (explain.Limits{}) {
			return content.WriteFile(filepath.Join(d.bundle, format.ExplanationsName), data)
		}
	}
}

func halve(l explain.Limits) explain.Limits {
	return explain.Limits{Quotes: l.Quotes / 2, Sites: l.Sites / 2, Pages: l.Pages / 2, Switches: l.Switches / 2, Taken: l.Taken / 2, Cuts: l.Cuts / 2}
}

// explain explains each tool of the category of a run.
func (in Input) explain(ctx context.Context, run journal.Run) (format.Explanations, error) {
	category, _ := in.Catalog.Category(run.Eval.Category)
	out := format.Explanations{Tools: []catalog.Ref{}, Reports: []explain.Report{}}
	answers, err := explain.Read(ctx, in.RunsRoot, run.ID, pick.New(category, in.Catalog.Version))
	if err != nil {
		return out, err
	}
	for _, ref := range in.Catalog.Refs() {
		if !slices.Contains(ref.Categories, category.Slug) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return out, err
		}
		trials := explain.Trials(answers, ref.Slug)
		for i := range trials {
			trials[i].Run = "" // a bundle has no run ids
		}
		r := explain.New(ref.Slug, ref.Domains, trials)
		r.Category, r.Tool, r.Synthetic, r.Runs = category.Slug, ref.Name, run.Synthetic, []string{}
		r.Limit(limits())
		out.Tools, out.Reports = append(out.Tools, ref), append(out.Reports, r)
	}
	return out, nil
}
