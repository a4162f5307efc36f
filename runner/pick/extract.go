package pick

import (
	"cmp"
	"context"
	"slices"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick/prose"
	"github.com/firstpick/firstpick/runner/transcript"
)

// An Extractor reads answers of one category. It may be used by many goroutines.
type Extractor struct {
	version string
	diy     catalog.DIY
	*reader
	targets []*target // sorted by slug, rivals before outsiders
	tools   *installTools
	// specific reports whether the first of two slugs is built on the second.
	specific func(a, b string) bool
	// index finds targets by their traces, own the packages and imports of own builds.
	index, own *index
	syntaxes   map[string]*syntax
}

// A target is a name that the extractor knows: a rival, or an outsider.
type target struct {
	slug    string
	outside bool
	unknown bool // a name that the catalogue does not know
	// contestant is an unknown name that stands among rivals: it heads a section as they do.
	contestant bool
	brand      bool // and that looks like one: "HyperDX"
	catalog.Traces
}

// New makes the extractor of a category; catalogVersion goes into every result.
func New(cat *catalog.Category, catalogVersion string) *Extractor {
	lexicons, err := prose.Lexicons()
	if err != nil {
		panic(err) // they are embedded and tested
	}
	x := &Extractor{version: catalogVersion, diy: cat.DIY, tools: newInstallTools(), syntaxes: syntaxes(), specific: cat.MoreSpecific}
	for _, e := range cat.Entries {
		x.targets = append(x.targets, &target{slug: e.Tool.Slug, Traces: e.Traces})
	}
	for _, o := range cat.Outside {
		x.targets = append(x.targets, &target{slug: o.Slug, outside: true, Traces: o.Traces})
	}
	slices.SortFunc(x.targets, compareTargets)
	x.index = newIndex(x.targets)
	x.own = newIndex([]*target{{Traces: catalog.Traces{Packages: x.diy.Packages, Imports: x.diy.Imports}}})
	x.reader = &reader{layout: prose.NewReader(), lexicons: lexicons, names: newNames(x.targets), traces: x.index, own: &target{}, phrases: cat.DIY.Phrases}
	return x
}

func compareTargets(a, b *target) int {
	if a.outside != b.outside {
		if b.outside {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.slug, b.slug)
}

// An action is one trace of a target in the agent's actions.
type action struct {
	target *target
	Evidence
	weak       bool // in a test, a document or an example
	considered bool // tried and gone: a failed or undone install
	// vendor is the SDK of many services of which the trace shows no more than the vendor.
	vendor catalog.SDK
}

// Extract decides one answer.
func (x *Extractor) Extract(t transcript.Transcript) Result {
	r, err := x.ExtractContext(context.Background(), t)
	if err != nil {
		panic(err) // a context that never ends is the only cause
	}
	return r
}

// ExtractContext is Extract for answers of any length: it stops soon after ctx ends,
// with the context's error.
func (x *Extractor) ExtractContext(ctx context.Context, t transcript.Transcript) (Result, error) {
	f, cut, err := x.gather(ctx, t)
	if err != nil {
		return Result{}, err
	}
	r := f.decide(t.Stop)
	f.detail(&r, x.installed(t.Installed))
	markCut(&r, cut)
	r.Extractor, r.Catalog = Version, x.version
	nameRule(&r)
	return r, nil
}

// gather collects the evidence of an answer, and what of it was too long to read.
func (x *Extractor) gather(ctx context.Context, t transcript.Transcript) (*finding, []string, error) {
	diff, commands, cut := inWindow(t)
	message, code, long := splitFences(t.FinalText)
	if long {
		cut = append([]string{"the final text"}, cut...)
	}
	ran := x.executions(commands)
	if len(diff) == 0 {
		diff = written(ran)
	}
	shown, toRun := fences{}, []*execution(nil)
	if len(diff) == 0 {
		diff, shown = code.delivered, code
	}
	if len(ran) == 0 {
		toRun = x.executions(shown.commands)
	}
	f := &finding{x: x}
	var err error
	steps := []func() error{
		func() error { f.actions, err = x.files(ctx, diff); return err },
		func() error { err := x.shown(ctx, f, shown, toRun); return err },
		func() error {
			installed, err := x.commands(ctx, ran, diff)
			f.actions = append(append(f.actions, x.listed(t.Listing)...), installed...)
			return err
		},
		func() error {
			f.ownWork, err = x.ownWork(ctx, diff, slices.Concat(ran, toRun), t.Listing)
			return err
		},
		func() error { f.message, err = x.read(ctx, message); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	f.message.cut = f.message.cutOff(t.FinalText, x.lexicons[f.message.language])
	f.actions = x.weigh(f.actions)
	f.structured = x.structured(t.Structured)
	return f, cut, nil
}
