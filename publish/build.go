package publish

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// ErrSynthetic means that results of simulated agents would be published without
// permission.
var ErrSynthetic = errors.New("simulated agents are among the runs; allow synthetic results to publish them, marked as synthetic")

// ErrIncomplete means that a run with too few of its planned trials would be published
// without permission.
var ErrIncomplete = errors.New("too few planned trials have an answer; finish the run, or allow incomplete ones")

// Input holds the sources of a snapshot.
type Input struct {
	// Store must hold every run in Runs, synced.
	Store   *trialstore.Store
	Catalog *catalog.Catalog
	// Runs are the runs to publish: one for each eval and category.
	Runs []journal.Run
	// Labels are what people say of trials of these runs.
	Labels []analytics.RunLabels
	// RunsRoot is the folder of the journals of Runs.
	RunsRoot string
	// Evidence is how much of each trial is published; empty for trialset.Quotes.
	Evidence trialset.Level
	// EmbargoPrompts publishes hashes of prompts without their texts.
	EmbargoPrompts bool
	// Observed are the field studies to publish in addition to the runs.
	Observed []*observed.Study
	// Registered are the runs that were registered in the log of the snapshots, by id.
	Registered map[string]journal.Registered
	// Place gets the snapshot. A folder is created if needed.
	Place Place
	// SignKey signs the manifest; nil leaves the snapshot unsigned.
	SignKey ed25519.PrivateKey
	// AllowSynthetic permits runs that asked simulated agents.
	AllowSynthetic bool
	// AllowIncomplete permits runs with answers to less than 95 % of their planned
	// trials; their boards are directional.
	AllowIncomplete bool
	// Generator is the program and its version.
	Generator string
}

// Build writes a snapshot and returns its manifest and id. A snapshot
// that exists already is left as it is. Where Build fails, no snapshot is left
// behind.
func Build(ctx context.Context, in Input) (m Manifest, id string, err error) {
	if err := in.check(); err != nil {
		return m, "", err
	}
	in.Runs = slices.Clone(in.Runs)
	sorting.Func(in.Runs, func(a, b journal.Run) int {
		return cmp.Or(cmp.Compare(a.Eval.Category, b.Eval.Category), cmp.Compare(a.Eval.Name, b.Eval.Name))
	})
	if m, err = in.Manifest(ctx); err != nil {
		return m, "", err
	}
	staging, err := in.Place.staging()
	if err != nil {
		return m, "", in.Place.advise(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	trials, err := in.writeTrials(ctx, staging)
	if err != nil {
		return m, "", in.Place.advise(err)
	}
	defer func() { err = errors.Join(err, trials.Close()) }()
	tmp := filepath.Join(staging, unnamed)
	if err := in.writeTraces(ctx, tmp, &m); err != nil {
		return m, "", in.Place.advise(err)
	}
	dir, err := os.OpenRoot(tmp)
	if err != nil {
		return m, "", err
	}
	defer func() { _ = dir.Close() }()
	known, labels := in.fields(), in.labels()
	from := source{store: trials, labels: labels.byCategory(), texts: in.promptTexts(), traces: tracesOf(dir, unnamed, m)}
	if from.field, err = in.fieldwork(); err != nil {
		return m, "", err
	}
	known.Observed = from.field.categories
	boards, err := from.rank(ctx, known, &m)
	if err != nil {
		return m, "", err
	}
	sumUp(&m, boards)
	if m.Counts.Trials == 0 {
		return m, "", errors.New("the runs have no valid trial yet; run the eval first, then publish")
	}
	docs, err := documents(boards, m.SchemaVersion)
	if err != nil {
		return m, "", err
	}
	if m.Observed, err = from.field.documents(docs); err != nil {
		return m, "", err
	}
	if docs[rowsName], err = from.rows(ctx, &m); err != nil {
		return m, "", err
	}
	others := map[string]any{catalogName: known, refsName: refList{Refs: in.Catalog.Refs()}}
	if len(labels.Evals) > 0 {
		others[labelsName] = labels
	}
	for name, v := range others {
		if docs[name], err = content.JSON(v); err != nil {
			return m, "", err
		}
	}
	m, id, err = in.write(ctx, staging, m, docs)
	return m, id, in.Place.advise(err)
}

func (in Input) check() error {
	if len(in.Runs) == 0 {
		return errors.New("no run to publish; run an eval first, or join the shards of one with firstpick merge")
	}
	seen := map[string]string{}
	for _, r := range in.Runs {
		if r.Synthetic && !in.AllowSynthetic {
			return fmt.Errorf("run %s: %w", r.ID, ErrSynthetic)
		}
		if r.Shard != nil {
			return fmt.Errorf("run %s is shard %s of its eval; merge all shards with `firstpick merge`, then publish the result", r.ID, r.Shard)
		}
		if _, ok := in.Catalog.Category(r.Eval.Category); !ok {
			return fmt.Errorf("run %s measures %s, which the catalogue does not have; publish with the catalogue of the run", r.ID, r.Eval.Category)
		}
		key := r.Eval.Category + "/" + r.Eval.Name
		if other, ok := seen[key]; ok {
			return fmt.Errorf("runs %s and %s are of the same eval %s; publish one of them", other, r.ID, key)
		}
		seen[key] = r.ID
	}
	return nil
}

func (in Input) ids() []string {
	ids := make([]string, 0, len(in.Runs))
	for _, r := range in.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// labels returns labels.json.
func (in Input) labels() labelList {
	list := labelList{}
	for _, r := range in.Runs { // sorted
		for _, l := range in.Labels {
			if l.Run == r.ID && len(l.Labels) > 0 {
				list.Evals = append(list.Evals, labelledEval{r.Eval.Category, r.Eval.Name, l.Frame, l.Labels})
			}
		}
	}
	return list
}

// fields returns the measured categories, sorted by slug.
func (in Input) fields() fields {
	var known fields
	for _, r := range in.Runs {
		has := func(f field) bool { return f.Slug == r.Eval.Category }
		if cat, ok := in.Catalog.Category(r.Eval.Category); ok && !slices.ContainsFunc(known.Categories, has) {
			known.Categories = append(known.Categories, fieldOf(cat))
		}
	}
	return known
}

// Manifest returns the manifest that Build would write, without conditions, counts and files. It needs
// Store, Catalog and Runs, and AllowIncomplete for incomplete runs.
func (in Input) Manifest(ctx context.Context) (Manifest, error) {
	m := Manifest{
		SchemaVersion: SchemaVersion, Statistics: Statistics, Generator: in.Generator, Catalog: in.Catalog.Version, Notes: []string{},
		Evidence: cmp.Or(in.Evidence, trialset.Quotes), Embargo: in.EmbargoPrompts,
	}
	rows, err := in.Store.Runs(ctx)
	if err != nil {
		return m, err
	}
	models, err := in.Store.Models(ctx, in.ids())
	if err != nil {
		return m, err
	}
	extracted, err := in.Store.Extracted(ctx, in.Runs)
	if err != nil {
		return m, err
	}
	var extractors []string
	families := map[string]map[string]string{} // by category
	for _, r := range in.Runs {
		if c := r.Eval.Category; families[c] == nil {
			families[c] = journal.Pool(in.Runs, c).Clusters()
		}
		e, err := in.evalOf(r, families[r.Eval.Category], models)
		if err != nil {
			return m, err
		}
		if i := slices.IndexFunc(rows, func(row trialstore.RunRow) bool { return row.ID == r.ID }); i >= 0 {
			e.Valid, e.Incomplete = rows[i].Valid, !rows[i].Complete
		}
		e.Runs, e.Extracted = in.runsOf(rows, r), extracted[r.ID]
		if e.Incomplete && !in.AllowIncomplete {
			return m, fmt.Errorf("run %s: %d of %d: %w", r.ID, e.Valid, e.Planned, ErrIncomplete)
		}
		m.Evals = append(m.Evals, e)
		m.Synthetic = m.Synthetic || r.Synthetic
		extractors = append(extractors, r.Extractor)
		for _, note := range notesOf(r, m.Catalog) {
			if !slices.Contains(m.Notes, note) {
				m.Notes = append(m.Notes, note)
			}
		}
	}
	slices.Sort(extractors)
	extractors = slices.DeleteFunc(slices.Compact(extractors), func(v string) bool { return v == "" })
	m.Extractor = strings.Join(extractors, ",")
	return m, nil
}

// runsOf lists the runs of the eval of a run. Shards count once they are merged.
func (in Input) runsOf(rows []trialstore.RunRow, r journal.Run) (out []EvalRun) {
	for _, row := range rows {
		if row.Eval != r.Eval.Name || row.Category != r.Eval.Category || row.Shard != "" {
			continue
		}
		run := EvalRun{Planned: row.Planned, Valid: row.Valid, Published: row.ID == r.ID}
		if !row.LastAt.IsZero() {
			run.AsOf = &row.LastAt
		}
		if at, ok := in.Registered[row.ID]; ok {
			run.Registered = &at
		}
		out = append(out, run)
	}
	return out
}

func notesOf(r journal.Run, version string) []string {
	notes := slices.Clone(r.Notes)
	if r.Catalog != "" && r.Catalog != version {
		notes = append(notes, fmt.Sprintf("Eval %s was read with catalogue %s, not the one of this snapshot.", r.Eval.Name, r.Catalog))
	}
	return notes
}

// DigestOf returns the hash of an eval as canonical JSON, without its source: the file's
// location is not part of the measurement.
func DigestOf(e eval.Eval) (string, error) {
	e.Source = ""
	data, err := content.JSON(e)
	return content.Digest(data), err
}

func (in Input) evalOf(r journal.Run, families map[string]string, models []trialstore.Model) (Eval, error) {
	def := r.Eval
	digest, err := DigestOf(def)
	if err != nil {
		return Eval{}, err
	}
	e := Eval{
		Name: def.Name, Category: def.Category, SHA256: digest, Planned: r.Planned, Synthetic: r.Synthetic, Imported: r.Imported,
		Prompts: []Prompt{}, Templates: append([]string{}, def.Templates...), Agents: []Agent{},
		PlanKnown: r.PlanKnown, Weights: def.Weights, Frame: def.Frame, Stopped: r.Until != nil && r.Until.Stopped != nil,
	}
	for _, p := range def.Prompts {
		e.Prompts = append(e.Prompts, Prompt{ID: p.ID, SHA256: content.Digest([]byte(p.Text)), Family: families[def.Name+"/"+p.ID], Tags: p.Tags})
	}
	public := in.policy(r.Synthetic)
	for _, a := range def.Agents {
		agent := Agent{Name: a.Name, Asked: public.Name(cmp.Or(a.Model, a.Name)), Reported: []string{}}
		for _, m := range models {
			if m.Eval == def.Name && m.Category == def.Category && m.Agent == a.Name && m.Name != "" {
				agent.Reported = append(agent.Reported, public.Name(m.Name))
			}
		}
		slices.Sort(agent.Reported)
		agent.Reported = slices.Compact(agent.Reported)
		e.Agents = append(e.Agents, agent)
	}
	return e, nil
}

// sumUp fills in the derived fields.
func sumUp(m *Manifest, boards []analytics.Board) {
	m.AsOf, m.Counts = nil, Counts{Categories: len(boards)}
	for _, b := range boards {
		m.Counts.Tools += len(b.Tools)
		m.Counts.Trials += b.NTrials
		if b.AsOf != nil && (m.AsOf == nil || b.AsOf.After(*m.AsOf)) {
			m.AsOf = b.AsOf
		}
	}
	for _, e := range m.Evals {
		m.Counts.Planned += e.Planned
	}
}
