package pick

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/transcript"
)

// files finds traces in the added lines of the workspace.
func (x *Extractor) files(ctx context.Context, diff []transcript.FileChange) ([]action, error) {
	var out []action
	for _, f := range diff {
		weak := isWeak(f.Path)
		add := func(t *target, level int, kind string, line int, quote string) {
			out = append(out, action{t, Evidence{t.slug, level, kind, f.Path, line, clipQuote(quote)}, weak, false})
		}
		eco := manifestEcosystem(f.Path)
		for _, dep := range f.AddedDeps {
			for _, t := range x.byPackage(eco, depNameIn(eco, dep)) {
				add(t, LevelManifest, "manifest", 0, dep)
			}
		}
		if len(f.AddedDeps) == 0 {
			for i, line := range f.Added {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				for _, t := range x.byPackage(eco, manifestLine(f.Path, line)) {
					add(t, LevelManifest, "manifest", i+1, line)
				}
			}
		}
		for _, t := range x.targets {
			if t.OwnsFile(f.Path) {
				add(t, LevelConfig, "file", 0, path.Base(f.Path))
			}
		}
		if err := x.source(ctx, f, add); err != nil {
			return nil, err
		}
	}
	return out, nil
}

type addFunc func(t *target, level int, kind string, line int, quote string)

// source finds imports, hosts and environment variables in added lines.
func (x *Extractor) source(ctx context.Context, f transcript.FileChange, add addFunc) error {
	eco, known := languageOf(f.Path)
	for i, line := range f.Added {
		if err := ctx.Err(); err != nil {
			return err
		}
		if line == "" || isComment(line) {
			continue
		}
		for _, m := range importsOf(eco, known, line) {
			for _, t := range x.targets {
				if t.imports(m) {
					add(t, LevelCode, "import", i+1, line)
				}
			}
		}
		for _, h := range hostPattern.FindAllString(line, -1) {
			for _, t := range x.targets {
				if onHost(t.Hosts, strings.ToLower(h)) {
					add(t, LevelCode, "host", i+1, line)
				}
			}
		}
		for _, name := range envPattern.FindAllString(line, -1) {
			for _, t := range x.targets {
				if matchesEnv(t.Env, name) {
					add(t, LevelConfig, "env", i+1, line)
				}
			}
		}
	}
	return nil
}

var (
	hostPattern = regexp.MustCompile(`[A-Za-z0-9](?:[A-Za-z0-9-]*\.)+[A-Za-z]{2,}`)
	envPattern  = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)
)

func onHost(hosts []string, h string) bool {
	return slices.ContainsFunc(hosts, func(want string) bool { return h == want || strings.HasSuffix(h, "."+want) })
}

func matchesEnv(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if prefix, any := strings.CutSuffix(p, "*"); any {
			return strings.HasPrefix(name, prefix)
		}
		return p == name
	})
}

// builtOwn returns the first sign in the workspace that the agent built its own.
func (x *Extractor) builtOwn(ctx context.Context, diff []transcript.FileChange) (*Evidence, error) {
	own := &target{Traces: catalog.Traces{Imports: x.diy.Imports}}
	for _, f := range diff {
		for _, dep := range f.AddedDeps {
			if hasPackage(x.diy.Packages, manifestEcosystem(f.Path), depNameIn(manifestEcosystem(f.Path), dep)) {
				return &Evidence{"", LevelManifest, "diy", f.Path, 0, clipQuote(dep)}, nil
			}
		}
		eco, known := languageOf(f.Path)
		for i, line := range f.Added {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			for _, m := range importsOf(eco, known, line) {
				if own.imports(m) {
					return &Evidence{"", LevelCode, "diy", f.Path, i + 1, clipQuote(line)}, nil
				}
			}
		}
	}
	return nil, nil
}

// isWeak reports whether a file is weak evidence: a test, a document, an example.
func isWeak(p string) bool {
	p = strings.ToLower(p)
	base := path.Base(p)
	for _, part := range strings.Split(path.Dir(p), "/") {
		if slices.Contains([]string{"test", "tests", "__tests__", "spec", "docs", "doc", "examples", "fixtures"}, part) {
			return true
		}
	}
	ext := path.Ext(base)
	return ext == ".md" || ext == ".mdx" || ext == ".rst" || strings.HasSuffix(base, "_test"+ext) ||
		strings.HasSuffix(base, ".test"+ext) || strings.HasSuffix(base, ".spec"+ext) || strings.HasPrefix(base, "test_")
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	for _, mark := range []string{"//", "/*", "* ", "--", "<!--"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	return strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#include")
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
