package pick

import (
	"cmp"
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

// A deed is one trace of a target in what the agent did.
type deed struct {
	target *target
	Evidence
	weak       bool // in a test, a document or an example
	considered bool // tried and gone: a failed or undone install
}

// Extract decides one answer.
func (x *Extractor) Extract(t transcript.Transcript) Result {
	prose, fences := splitFences(t.FinalText)
	diff := t.Diff
	if len(diff) == 0 {
		diff = fences
	}
	f := &finding{
		x: x, deeds: slices.Concat(x.files(diff), x.listed(t.Listing), x.commands(t.Commands, diff)),
		said: x.read(prose), diyDeed: x.builtOwn(diff),
	}
	if f.diyDeed == nil {
		f.diyDeed = x.listedOwn(t.Listing)
	}
	f.structured = x.structured(t.Structured)
	r := f.decide(t.Stop)
	r.Extractor, r.Catalog = Version, x.version
	return r
}

// splitFences takes fenced code out of a message, as files by language.
func splitFences(text string) (prose string, files []transcript.FileChange) {
	var b strings.Builder
	var open *transcript.FileChange
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		mark := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(mark, "```") && open == nil:
			open = &transcript.FileChange{Path: "answer" + extension(strings.TrimLeft(mark, "`"))}
		case strings.HasPrefix(mark, "```"):
			files = append(files, *open)
			open = nil
		case open != nil:
			open.Added = append(open.Added, line)
		default:
			b.WriteString(line + "\n")
		}
	}
	if open != nil { // cut off inside a fence: what is there was delivered
		files = append(files, *open)
	}
	return b.String(), files
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
