package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/label"
)

// labelFile is the label file of a run.
func (a *app) labelFile(run string) label.File {
	return label.File{Path: filepath.Join(a.runsRoot(), run, label.FileName), Run: run}
}

// withLabels returns the selection with the labels in files, or with those with its
// runs. There must be some of a selected run.
func (a *app) withLabels(s selection, files []string) (selection, error) {
	if len(files) > 0 {
		s.labels = nil
	}
	for _, file := range files {
		sets, err := readLabels(file)
		if err != nil {
			return s, err
		}
		for _, id := range s.ids() {
			set := sets[id]
			if set == nil || len(set.Labels) == 0 {
				continue
			}
			if slices.ContainsFunc(s.labels, func(l analytics.RunLabels) bool { return l.Run == id }) {
				return s, usageErr("put the labels of a run into one file", "%s: labels of run %s, which another file has too", file, id)
			}
			s.labels = append(s.labels, analytics.ReadingsOf(set))
		}
	}
	if len(s.labels) == 0 {
		return s, usageErr("firstpick label RUN", "no labels of the ranked runs: %v", s.ids())
	}
	return s, nil
}

func readLabels(file string) (map[string]*label.Set, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, badInput(err)
	}
	defer func() { _ = f.Close() }()
	sets, err := label.Parse(f)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", file, err))
	}
	return sets, nil
}

// labelled returns the labels of a category, joined with what was extracted.
func (s selection) labelled(ctx context.Context, store *trialstore.Store, category string) (analytics.Labels, error) {
	var of []analytics.RunLabels
	extracted := 0
	for _, r := range s.runs {
		if r.Eval.Category != category {
			continue
		}
		extracted += s.extracted[r.ID]
		for _, l := range s.labels {
			if l.Run == r.ID {
				of = append(of, l)
			}
		}
	}
	labels, err := store.Labelled(ctx, of)
	labels.Extracted = extracted
	return labels, err
}
