package cli

import (
	"context"
	"errors"
	"os"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/judge"
	"github.com/firstpick/firstpick/runner/pick"
)

func newExtractCmd(env *Env) *cobra.Command {
	var runID string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "extract",
		Short: "Recompute the picks of a run from its stored transcripts",
		Long: `Recompute the picks of a run with the current extractor and catalogue. No requests are
sent. The journal keeps the earlier picks; the newest count. With --dry-run it is
firstpick extract diff. Judgements that extract judge stored apply again to answers that
stay unresolved.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			if runID == "" {
				return usageErr("firstpick runs lists them", "--run is missing")
			}
			if runID, err = a.findRun(runID); err != nil {
				return err
			}
			if dryRun {
				return a.extractDiff(runID, exampleTrials, false)
			}
			return a.extract(cmd.Context(), runID)
		},
	}
	cmd.Flags().StringVar(&runID, "run", "", "the run, the start of its id, or last (required)")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "report changes without writing them")
	cmd.AddCommand(newScoreCmd(env), newExtractDiffCmd(env), newJudgeCmd(env))
	return cmd
}

const extractBatch = 512

// extract appends an extraction to the journal for every result that changes.
func (a *app) extract(ctx context.Context, runID string) error {
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	changed, total, err := a.changedPicks(runID, cat)
	if err != nil {
		return err
	}
	diff := summarize(changed, total)
	if len(changed) == 0 {
		a.noteDiff(diff, "changed")
		return nil
	}
	j, err := journal.Open(a.runsRoot(), runID)
	if err != nil {
		return err
	}
	for len(changed) > 0 && err == nil {
		n := min(extractBatch, len(changed))
		records := make([]journal.Record, 0, n)
		for _, c := range changed[:n] {
			records = append(records, c.record)
		}
		err = j.Append(ctx, records...)
		changed = changed[n:]
	}
	if err := errors.Join(err, j.Close()); err != nil {
		return err
	}
	a.noteDiff(diff, "changed")
	a.load(ctx)
	return nil
}

// A changedPick is an extraction that differs from the one that counted.
type changedPick struct {
	record journal.Record
	was    *pick.Result // nil without one
	moved  bool         // the outcome itself is another
}

func (a *app) changedPicks(runID string, cat *catalog.Catalog) (changed []changedPick, total int, err error) {
	old := map[string]journal.Record{}
	var order []string
	var kept judge.Kept
	_, err = journal.Scan(a.runsRoot(), runID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		switch r.Kind {
		case journal.KindResult:
			order = append(order, r.Trial.ID)
			old[r.Trial.ID] = r
		case journal.KindExtraction:
			rec := old[r.Trial.ID]
			rec.Result = r.Result
			old[r.Trial.ID] = rec
		case journal.KindJudgement:
			kept.Add(r)
		case journal.KindAttempt, journal.KindExcluded, journal.KindManifest, journal.KindAsked, journal.KindAnswer:
		}
		return nil
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, usageErr("firstpick runs lists them", "no run %s in %s", runID, a.cfg.Data)
	} else if err != nil {
		return nil, 0, err
	}
	extractors, readers := map[string]*pick.Extractor{}, map[string]*judge.Reader{}
	for _, id := range order {
		rec := old[id]
		if rec.Result != nil && rec.Result.Method == pick.MethodGiven {
			continue // came without a transcript
		}
		x, err := extractorOf(extractors, cat, rec.Trial.Category)
		if err != nil {
			return nil, 0, err
		}
		now := x.Extract(rec.Answer.Transcript)
		if now.Unresolved {
			now = kept.Apply(readerOf(readers, cat, rec.Trial.Category), id, rec.Answer.Transcript, now)
		}
		if rec.Result == nil || !reflect.DeepEqual(now, *rec.Result) {
			moved := rec.Result == nil || now.Kind != rec.Result.Kind || now.Picked != rec.Result.Picked || now.Unresolved != rec.Result.Unresolved
			was := rec.Result
			rec := journal.Record{Kind: journal.KindExtraction, Trial: rec.Trial, At: a.env.Now().UTC(), Result: &now}
			changed = append(changed, changedPick{rec, was, moved})
		}
	}
	return changed, len(order), nil
}

func extractorOf(cache map[string]*pick.Extractor, cat *catalog.Catalog, slug string) (*pick.Extractor, error) {
	if x := cache[slug]; x != nil {
		return x, nil
	}
	category, ok := cat.Category(slug)
	if !ok {
		return nil, unknownCategory(cat, slug)
	}
	cache[slug] = pick.New(category, cat.Version)
	return cache[slug], nil
}
