package bundle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/gather"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// Input is the source of a bundle.
type Input struct {
	// RunsRoot and RunID identify the run. It must not be written to meanwhile.
	RunsRoot, RunID string
	Catalog         *catalog.Catalog
	Own             bool // the catalogue has entries of a workspace
	// Root is the folder of bundles. It is created if needed.
	Root string
	// Generator is the program and its version.
	Generator string
}

// Write makes the bundle of an ended run and returns its
// manifest. A bundle that is there already and whole stays as it is. Where Write
// fails no bundle is left behind.
func Write(ctx context.Context, in Input) (_ format.Manifest, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("bundle of run %s under %s: %w", in.RunID, in.Root, err)
		}
	}()
	run, err := journal.ReadRun(in.RunsRoot, in.RunID)
	if err != nil {
		return format.Manifest{}, err
	}
	if err := in.check(run); err != nil {
		return format.Manifest{}, err
	}
	staging, err := openStaging(in.Root)
	if err != nil {
		return format.Manifest{}, err
	}
	defer func() { err = errors.Join(err, staging.close()) }()
	m, err := in.fill(ctx, run, staging)
	if err != nil {
		return format.Manifest{}, err
	}
	data, err := content.JSON(m)
	if err != nil {
		return format.Manifest{}, err
	}
	if _, err := content.WriteFile(filepath.Join(staging.bundle, format.ManifestName), data); err != nil {
		return format.Manifest{}, err
	}
	m.ID = format.ID(data)
	if err := ctx.Err(); err != nil {
		return format.Manifest{}, err
	}
	return m, staging.settle(m)
}

func (in Input) check(run journal.Run) error {
	if run.Shard != nil {
		return fmt.Errorf("it is shard %s of its eval; merge all shards with `firstpick merge`, then bundle the result", run.Shard)
	}
	if run.Imported {
		return errors.New("its answers were imported; only runs of a plan have a bundle")
	}
	if _, ok := in.Catalog.Category(run.Eval.Category); !ok {
		return fmt.Errorf("it measures %s, which the catalogue does not have; use the catalogue of the run", run.Eval.Category)
	}
	return nil
}

// fill writes all files but the manifest, which it returns.
func (in Input) fill(ctx context.Context, run journal.Run, d *staging) (format.Manifest, error) {
	m, err := in.manifest(run)
	if err != nil {
		return m, err
	}
	g, err := gather.Read(ctx, in.RunsRoot, run, filepath.Join(d.scratch, "buffer"))
	if err != nil {
		return m, err
	}
	defer g.Close()
	if err := sumUp(g, in.RunsRoot, run.ID, &m); err != nil {
		return m, err
	}
	if m.Files, err = g.Write(ctx, d.bundle, nil); err != nil {
		return m, err
	}
	files, err := in.writeScores(ctx, run, d, &m)
	if err != nil {
		return m, err
	}
	explanations, err := in.writeExplanations(ctx, run, d)
	if err != nil {
		return m, err
	}
	m.Files = append(append(m.Files, files...), explanations)
	sorting.Func(m.Files, func(a, b format.File) int { return strings.Compare(a.Path, b.Path) })
	return m, nil
}

// manifest returns the part of the manifest that follows from the plan.
func (in Input) manifest(run journal.Run) (format.Manifest, error) {
	def := run.Eval
	digest, err := EvalDigest(def)
	if err != nil {
		return format.Manifest{}, err
	}
	category := ""
	if in.Own {
		if category, err = in.Catalog.CategoryVersion(def.Category); err != nil {
			return format.Manifest{}, err
		}
	}
	m := format.Manifest{
		CategoryVersion: category,
		SchemaVersion:   format.SchemaVersion, Generator: in.Generator, Catalog: in.Catalog.Version, Synthetic: run.Synthetic,
		Eval: format.Eval{
			Name: def.Name, Category: def.Category, SHA256: digest, Repeats: def.Repeats,
			Templates: append([]string{}, def.Templates...), Prompts: []format.Prompt{}, Weights: def.Weights,
		},
		Counts: format.Counts{ExcludedBy: map[string]int{}, MissingBy: map[string]int{}},
		Agents: []format.Agent{}, Notes: append([]string{}, run.Notes...),
	}
	for _, p := range def.Prompts {
		m.Eval.Prompts = append(m.Eval.Prompts, format.Prompt{ID: p.ID, Text: p.Text, Family: p.Family})
	}
	for _, a := range def.Agents {
		m.Agents = append(m.Agents, format.Agent{Name: a.Name, Manifests: []format.AgentManifest{}})
	}
	if run.Catalog != "" && run.Catalog != m.Catalog {
		m.Notes = append(m.Notes, fmt.Sprintf("The answers were read with catalogue %s, not the one of this bundle.", run.Catalog))
	}
	return m, nil
}

// EvalDigest is the SHA-256 of an eval's canonical JSON, in 64 hexadecimal digits: without its
// source text, and with the digests of own templates, where it has them: other files make
// another eval.
func EvalDigest(e eval.Eval) (string, error) {
	e.Source = ""
	data, err := content.JSON(e)
	return content.Digest(data), err
}
