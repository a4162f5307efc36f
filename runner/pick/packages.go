package pick

import (
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/transcript"
)

// byPackage returns the targets that own a package, in their order. An empty ecosystem
// matches any.
func (x *Extractor) byPackage(eco catalog.Ecosystem, name string) []*target {
	if eco != "" {
		return x.index.byPackage(eco, name)
	}
	var out []*target
	for _, e := range catalog.Ecosystems() {
		for _, t := range x.index.byPackage(e, name) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	slices.SortFunc(out, compareTargets)
	return out
}

// A dep is a package that a manifest asks for.
type dep struct {
	eco        catalog.Ecosystem // empty: any
	name, text string
	line       int  // of the added lines, from 1; 0 if unknown
	dev        bool // for tests and tools only
}

// byDep returns the targets of a dependency: by package, or by the service that a
// package of an SDK is for.
func (x *Extractor) byDep(d dep) []*target {
	if found := x.byPackage(d.eco, d.name); len(found) > 0 {
		return found
	}
	return x.index.byService(d.eco, d.name).targets
}

// deps returns the packages that a manifest asks for: those that the transcript lists,
// otherwise those of its added lines.
func (x *Extractor) deps(f transcript.FileChange) []dep {
	kind := manifest.Kind(f.Path)
	if kind == "" && len(f.AddedDeps) == 0 {
		return nil
	}
	eco := catalog.Ecosystem(kind)
	lines := make([]string, len(f.Added))
	reader := x.codeReader(f.Path, f.Added)
	for i := range f.Added {
		lines[i], _ = reader.next(i)
	}
	if kind == string(catalog.Go) {
		lines = f.Added // a comment marks what others need
	}
	added := manifest.Lines(f.Path, lines)
	var out []dep
	if len(f.AddedDeps) > 0 {
		for _, text := range f.AddedDeps {
			d := dep{eco: eco, name: depNameIn(eco, text), text: text}
			d.dev = slices.ContainsFunc(added, func(l manifest.Line) bool { return l.Dev && l.Name == catalog.PackageKey(eco, d.name) })
			out = append(out, d)
		}
	} else {
		for _, l := range added {
			out = append(out, dep{eco, l.Name, f.Added[l.At], l.At + 1, l.Dev})
		}
	}
	if isDockerfile(path.Base(f.Path)) {
		out = append(out, x.imageInstalls(lines)...)
	}
	return out
}

// isDockerfile reports whether a file name is that of a Dockerfile: Dockerfile.web, web.dockerfile.
func isDockerfile(base string) bool {
	return strings.HasPrefix(base, "Dockerfile") || strings.HasSuffix(base, ".dockerfile")
}

// imageInstalls returns the packages that the commands of a Dockerfile install.
func (x *Extractor) imageInstalls(lines []string) []dep {
	var out []dep
	var run strings.Builder
	from := -1
	for i, line := range lines {
		if from < 0 {
			text := strings.TrimSpace(line)
			if len(text) < 4 || !strings.EqualFold(text[:4], "RUN ") {
				continue
			}
			from, line = i, text[4:]
			for strings.HasPrefix(line, "--") { // --mount=...
				_, line, _ = strings.Cut(line, " ")
			}
		}
		rest, more := strings.CutSuffix(strings.TrimRight(line, " \t"), `\`)
		run.WriteString(rest + " ")
		if more && i+1 < len(lines) {
			continue
		}
		for _, in := range x.tools.installs(run.String()) {
			if !in.remove {
				out = append(out, dep{in.eco, in.name, run.String(), from + 1, in.dev})
			}
		}
		run.Reset()
		from = -1
	}
	return out
}

var depTail = lazyregexp.MustCompile(`(?:\[[^\]]*\])?\s*(?:[@=<>~!^;,: ].*)?$`)

// depName strips versions, ranges and extras: "stripe@^17", "passlib[bcrypt]>=1".
func depName(dep string) string {
	dep = strings.Trim(strings.TrimSpace(dep[:min(len(dep), 4*maxName)]), `"',`)
	scope := ""
	if strings.HasPrefix(dep, "@") {
		scope, dep = "@", dep[1:]
	}
	return scope + depTail.ReplaceAllString(dep, "")
}

// depNameIn is depName for a manifest of an ecosystem. Maven names a package by
// group and artifact, with a colon between.
func depNameIn(eco catalog.Ecosystem, dep string) string {
	if eco != catalog.Maven {
		return depName(dep)
	}
	parts := strings.SplitN(strings.Trim(strings.TrimSpace(dep), `"',`), ":", 3)
	return strings.Join(parts[:min(len(parts), 2)], ":")
}
