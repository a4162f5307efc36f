package pick

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/transcript"
)

// files finds traces in the added lines of the workspace.
func (x *Extractor) files(ctx context.Context, diff []transcript.FileChange) ([]action, error) {
	var out []action
	var used usage
	boto := len(x.index.forms) > 0 && slices.ContainsFunc(diff, usesBoto)
	for _, f := range diff {
		r := &recorder{path: f.Path, weak: isWeak(f.Path)}
		for _, d := range x.deps(f) {
			for _, t := range x.byDep(d) {
				r.add(t, LevelManifest, "manifest", d.line, d.text)
				r.mark(d.dev, x.index.vendorOf(t, d.eco, d.name))
			}
			used.add(x.index.byService(d.eco, d.name))
		}
		for _, t := range x.index.byFile(f.Path) {
			r.add(t, LevelConfig, "file", 0, path.Base(f.Path))
		}
		s := source{x.index, r, &used, boto}
		if err := x.code(ctx, f, s.line); err != nil {
			return nil, err
		}
		out = append(out, r.actions...)
	}
	return x.index.narrow(out, used), nil
}

// usesBoto reports whether a file uses the Python SDK of AWS, whose calls name services.
func usesBoto(f transcript.FileChange) bool {
	return slices.ContainsFunc(f.Added, func(line string) bool { return strings.Contains(line, "boto") })
}

// maxTraces limits the actions of one kind that one file shows of a target: more of them
// prove nothing more.
const maxTraces = 12

// A recorder gathers the actions that one file shows.
type recorder struct {
	path    string
	weak    bool
	actions []action
	count   map[traceKind]int
	added   bool // by the last call of add
}

type traceKind struct {
	target *target
	kind   string
}

func (r *recorder) add(t *target, level int, kind string, line int, quote string) {
	key := traceKind{t, kind}
	if r.count == nil {
		r.count = map[traceKind]int{}
	}
	r.added = r.count[key] < maxTraces
	if !r.added {
		return
	}
	a := action{target: t, Evidence: Evidence{t.slug, level, kind, r.path, line, clipQuote(quote)}, weak: r.weak}
	if n := len(r.actions); n > 0 && r.actions[n-1].Evidence == a.Evidence {
		r.added = false
		return
	}
	r.count[key]++
	r.actions = append(r.actions, a)
}

// mark qualifies the action that was added last, if it was.
func (r *recorder) mark(weak bool, vendor catalog.SDK) {
	if r.added {
		a := &r.actions[len(r.actions)-1]
		a.weak, a.vendor = a.weak || weak, vendor
	}
}

// code calls each with every added line without comments, and its index. quoted is true
// inside a string over lines.
func (x *Extractor) code(ctx context.Context, f transcript.FileChange, each func(f transcript.FileChange, i int, code string, quoted bool)) error {
	reader := x.codeReader(f.Path, f.Added)
	for i := range f.Added {
		if err := ctx.Err(); err != nil {
			return err
		}
		if code, quoted := reader.next(i); code != "" {
			each(f, i, code, quoted)
		}
	}
	return nil
}

// A source finds traces in the lines of one file.
type source struct {
	*index
	*recorder
	used *usage
	boto bool // the answer uses the Python SDK of AWS
}

func (s source) line(f transcript.FileChange, i int, code string, quoted bool) {
	quote := f.Added[i]
	service := func(u use) {
		s.used.add(u)
		for _, t := range u.targets {
			s.add(t, LevelCode, "import", i+1, quote)
		}
	}
	if !quoted {
		eco, known := languageOf(f.Path)
		importsOf(eco, known, code, func(m module) {
			for _, t := range s.byImport(m) {
				s.add(t, LevelCode, "import", i+1, quote)
				s.mark(false, s.vendorOf(t, m.eco, m.name))
			}
			service(s.byService(m.eco, m.name))
		})
	}
	for word := range identifiers(code) {
		for _, t := range s.byHost(word.host) {
			s.add(t, LevelCode, "host", i+1, quote)
		}
		if word.env != "" {
			for _, t := range s.byEnv(word.env) {
				s.add(t, LevelConfig, "env", i+1, quote)
			}
		}
	}
	if len(s.forms) > 0 {
		s.byCall(code, s.boto, service)
	}
}

// An identifier is a word of code that may be a trace: a name with dots in it, or one
// that is written like an environment variable.
type identifier struct{ host, env string }

// identifiers yields the identifiers of a line.
func identifiers(code string) func(yield func(identifier) bool) {
	return func(yield func(identifier) bool) {
		for i := 0; i < len(code); i++ {
			if !isWordByte(code[i]) {
				continue
			}
			from, part := i, i // of the word, and of its part without dots and dashes
			dots, marks := false, false
			for ; i < len(code) && (isWordByte(code[i]) || code[i] == '.' || code[i] == '-'); i++ {
				switch code[i] {
				case '.', '-':
					dots = dots || code[i] == '.'
					if marks && !yieldEnv(code[part:i], yield) {
						return
					}
					part, marks = i+1, false
				case '_':
					marks = true
				}
			}
			if marks && !yieldEnv(code[part:i], yield) || dots && !yieldHosts(code[from:i], yield) {
				return
			}
		}
	}
}

func yieldEnv(word string, yield func(identifier) bool) bool {
	if !isEnvName(word) {
		return true
	}
	return yield(identifier{env: word})
}

// yieldHosts yields the parts with dots of a word; an underscore is not in a host name.
func yieldHosts(word string, yield func(identifier) bool) bool {
	for len(word) > 0 {
		part, rest, _ := strings.Cut(word, "_")
		word = rest
		if part = strings.Trim(part, ".-"); strings.Contains(part, ".") && !yield(identifier{host: part}) {
			return false
		}
	}
	return true
}

// isEnvName reports whether a word is written like STRIPE_API_KEY.
func isEnvName(word string) bool {
	if len(word) > maxName || word == "" || word[0] < 'A' || word[0] > 'Z' || word[len(word)-1] == '_' || strings.Contains(word, "__") {
		return false
	}
	for i := range len(word) {
		if c := word[i]; c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// ownWork returns the first sign that the agent built its own: in the workspace, in a
// study's listing, in its commands.
func (x *Extractor) ownWork(ctx context.Context, diff []transcript.FileChange, ran []*execution, l *transcript.Listing) (*Evidence, error) {
	if own, err := x.builtOwn(ctx, diff); own != nil || err != nil {
		return own, err
	}
	if own := x.listedOwn(l); own != nil {
		return own, nil
	}
	return x.ownInstalled(ctx, ran)
}

// builtOwn returns the first sign in the workspace that the agent built its own: outside
// of tests if there is one. Documents are no sign.
func (x *Extractor) builtOwn(ctx context.Context, diff []transcript.FileChange) (*Evidence, error) {
	if len(x.own.packages) == 0 && len(x.own.imports) == 0 {
		return nil, nil
	}
	var inTests *Evidence
	for _, f := range diff {
		weak := isWeak(f.Path)
		if isDocument(f.Path) || weak && inTests != nil {
			continue
		}
		own, err := x.ownSign(ctx, f)
		switch {
		case err != nil:
			return nil, err
		case own != nil && !weak:
			return own, nil
		case own != nil:
			inTests = own
		}
	}
	return inTests, nil
}

// ownSign returns the first sign of an own build in a file.
func (x *Extractor) ownSign(ctx context.Context, f transcript.FileChange) (own *Evidence, err error) {
	for _, d := range x.deps(f) {
		if !d.dev && len(x.own.byPackage(d.eco, d.name)) > 0 {
			return &Evidence{"", LevelManifest, "diy", f.Path, d.line, clipQuote(d.text)}, nil
		}
	}
	eco, known := languageOf(f.Path)
	if eco == "" && known {
		return nil, nil
	}
	err = x.code(ctx, f, func(f transcript.FileChange, i int, code string, quoted bool) {
		if own != nil || quoted {
			return
		}
		importsOf(eco, known, code, func(m module) {
			if own == nil && len(x.own.byImport(m)) > 0 {
				own = &Evidence{"", LevelCode, "diy", f.Path, i + 1, clipQuote(f.Added[i])}
			}
		})
	})
	return own, err
}

// isWeak reports whether a file is weak evidence: a test, a document, an example, a
// measurement.
func isWeak(p string) bool {
	p = strings.ToLower(p)
	base := path.Base(p)
	for part := range strings.SplitSeq(path.Dir(p), "/") {
		switch part {
		case "test", "tests", "__tests__", "spec", "specs", "e2e", "cypress", "__mocks__", "mocks", "mock", "stubs", "fakes", "scripts", "testdata", "fixtures",
			"docs", "doc", "example", "examples", "sample", "samples", "demo", "demos", "playground", "bench", "benchmark", "benchmarks", "stories", ".storybook":
			return true
		}
	}
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	if isDocument(p) {
		return true
	}
	for _, end := range []string{"_test", ".test", ".spec", "_spec", ".e2e", ".stories", ".bench", "-test"} {
		if strings.HasSuffix(stem, end) {
			return true
		}
	}
	return strings.HasPrefix(base, "test_") || strings.HasPrefix(base, "mock-") || strings.HasPrefix(base, "mock_") || base == "conftest.py" || isTestClass(path.Base(p), ext, stem)
}

func isDocument(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".md", ".mdx", ".rst", ".adoc":
		return true
	}
	return false
}

// isTestClass reports whether a file holds a test class of Java or .NET: OrderTest.java.
func isTestClass(base, ext, stem string) bool {
	switch ext {
	case ".java", ".kt", ".cs", ".php", ".scala", ".groovy":
		return base != "test"+ext && (strings.HasSuffix(stem, "test") || strings.HasSuffix(stem, "tests")) && stem != "latest"
	}
	return false
}

const maxQuote = 300

// clipQuote limits the length of a quote; the result is a verbatim prefix.
func clipQuote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) <= maxQuote {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuote], "")
}
