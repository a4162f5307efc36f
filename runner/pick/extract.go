package pick

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/transcript"
)

// An Extractor reads answers of one category. It may be used by many goroutines.
type Extractor struct {
	version string
	diy     catalog.DIY
	targets []*target // sorted by slug, rivals before outsiders
	tools   *installTools
}

// A target is a name that the extractor knows: a rival, or an outsider.
type target struct {
	slug    string
	outside bool
	catalog.Traces
}

// New makes the extractor of a category; catalogVersion goes into every result.
func New(cat *catalog.Category, catalogVersion string) *Extractor {
	x := &Extractor{version: catalogVersion, diy: cat.DIY, tools: newInstallTools()}
	for _, e := range cat.Entries {
		x.targets = append(x.targets, &target{slug: e.Tool.Slug, Traces: e.Traces})
	}
	for _, o := range cat.Outside {
		x.targets = append(x.targets, &target{slug: o.Slug, outside: true, Traces: o.Traces})
	}
	slices.SortFunc(x.targets, func(a, b *target) int {
		if a.outside != b.outside {
			if b.outside {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.slug, b.slug)
	})
	return x
}

// An action is one trace of a target in the agent's actions.
type action struct {
	target *target
	Evidence
	weak       bool // in a test, a document or an example
	considered bool // tried and gone: a failed or undone install
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
	diff, commands, cut := inWindow(t)
	prose, fences, long := splitFences(t.FinalText)
	if long {
		cut = append([]string{"the final text"}, cut...)
	}
	if len(diff) == 0 {
		diff = fences
	}
	f := &finding{x: x}
	var err error
	steps := []func() error{
		func() error { f.actions, err = x.files(ctx, diff); return err },
		func() error {
			installed, err := x.commands(ctx, commands, diff)
			f.actions = append(append(f.actions, x.listed(t.Listing)...), installed...)
			return err
		},
		func() error { f.ownWork, err = x.builtOwn(ctx, diff); return err },
		func() error { f.message, err = x.read(ctx, prose); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return Result{}, err
		}
	}
	if f.ownWork == nil {
		f.ownWork = x.listedOwn(t.Listing)
	}
	f.structured = x.structured(t.Structured)
	r := f.decide(t.Stop)
	markCut(&r, cut)
	r.Extractor, r.Catalog = Version, x.version
	nameRule(&r)
	return r, nil
}

// splitFences extracts fenced code from a message, as files by language. Of a long
// message it returns the first and the last window, and cut is true.
func splitFences(text string) (prose string, files []transcript.FileChange, cut bool) {
	var b strings.Builder
	var open *transcript.FileChange
	w := &window{size: len(text)}
	for whole := range strings.Lines(text) {
		line := strings.TrimRight(whole, "\r\n")
		mark := strings.TrimSpace(line)
		read := w.next(line, len(whole))
		switch {
		case strings.HasPrefix(mark, "```") && open == nil:
			open = &transcript.FileChange{Path: "answer" + extension(strings.TrimLeft(mark, "`"))}
		case strings.HasPrefix(mark, "```"):
			if len(open.Added) > 0 || !w.long() { // otherwise all of it was cut out
				files = append(files, *open)
			}
			open = nil
		case open != nil && len(read) > 0:
			open.Added = append(open.Added, strings.Join(read, " "))
		case open == nil && len(read) < 2:
			b.WriteString(strings.Join(read, "") + "\n")
		case open == nil: // a paragraph ends where the middle is cut out
			b.WriteString(strings.Join(read, "\n\n") + "\n")
		}
	}
	if open != nil { // truncated inside a fence: its text was delivered
		files = append(files, *open)
	}
	return b.String(), files, w.long()
}

func extension(language string) string {
	language, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(language)), " ")
	known := map[string]string{
		"python": ".py", "py": ".py", "javascript": ".js", "js": ".js", "jsx": ".jsx", "typescript": ".ts", "ts": ".ts",
		"tsx": ".tsx", "go": ".go", "golang": ".go", "ruby": ".rb", "rb": ".rb", "rust": ".rs", "php": ".php",
		"java": ".java", "kotlin": ".kt", "csharp": ".cs", "cs": ".cs", "bash": ".sh", "sh": ".sh", "shell": ".sh", "json": ".json",
	}
	if ext, ok := known[language]; ok {
		return ext
	}
	return ".txt"
}
