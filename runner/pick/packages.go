package pick

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// byPackage returns the targets that own a package. An empty ecosystem matches any.
func (x *Extractor) byPackage(eco catalog.Ecosystem, name string) []*target {
	if name == "" {
		return nil
	}
	var out []*target
	for _, t := range x.targets {
		if hasPackage(t.Packages, eco, name) {
			out = append(out, t)
		}
	}
	return out
}

func hasPackage(packages map[catalog.Ecosystem][]string, eco catalog.Ecosystem, name string) bool {
	for e, names := range packages {
		if eco != "" && e != eco {
			continue
		}
		if slices.ContainsFunc(names, func(n string) bool { return samePackage(e, n, name) }) {
			return true
		}
	}
	return false
}

// samePackage compares names as the registry does.
func samePackage(eco catalog.Ecosystem, a, b string) bool {
	switch eco {
	case catalog.PyPI:
		fold := func(s string) string { return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(s)) }
		return fold(a) == fold(b)
	case catalog.Go:
		return b == a || strings.HasPrefix(b, a+"/")
	case catalog.NuGet, catalog.Composer:
		return strings.EqualFold(a, b)
	default:
		return a == b
	}
}

var depTail = regexp.MustCompile(`(?:\[[^\]]*\])?\s*(?:[@=<>~!^;,: ].*)?$`)

// depName strips versions, ranges and extras: "stripe@^17", "passlib[bcrypt]>=1".
func depName(dep string) string {
	dep = strings.Trim(strings.TrimSpace(dep), `"',`)
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

// manifestEcosystem returns the ecosystem of a manifest by its file name; empty for other
// files.
func manifestEcosystem(p string) catalog.Ecosystem {
	base := path.Base(p)
	switch {
	case base == "package.json" || base == "pnpm-lock.yaml" || base == "yarn.lock" || base == "package-lock.json":
		return catalog.NPM
	case strings.HasPrefix(base, "requirements") || base == "pyproject.toml" || base == "Pipfile" || base == "setup.py" || base == "environment.yml":
		return catalog.PyPI
	case base == "go.mod":
		return catalog.Go
	case base == "Cargo.toml":
		return catalog.Cargo
	case base == "Gemfile" || strings.HasSuffix(base, ".gemspec"):
		return catalog.RubyGems
	case base == "composer.json":
		return catalog.Composer
	case base == "pom.xml" || strings.HasPrefix(base, "build.gradle") || base == "libs.versions.toml":
		return catalog.Maven
	case strings.HasSuffix(base, ".csproj") || base == "Directory.Packages.props":
		return catalog.NuGet
	case strings.HasPrefix(base, "Dockerfile") || strings.Contains(base, "compose"):
		return catalog.Docker
	default:
		return ""
	}
}

var (
	jsonDep  = regexp.MustCompile(`^\s*"(@?[\w.-]+(?:/[\w.-]+)?)"\s*:\s*"[\^~>=<*\d][^"]*"`)
	plainDep = regexp.MustCompile(`^\s*([A-Za-z][\w.-]*(?:\[[\w,-]+\])?)\s*(?:[=<>~!]=?.*)?$`)
	goDep    = regexp.MustCompile(`^\s*(?:require\s+)?([\w.-]+\.[a-z]+/\S+)\s+v\d`)
	gemDep   = regexp.MustCompile(`^\s*gem\s+['"]([\w-]+)['"]`)
	imageDep = regexp.MustCompile(`(?i)^\s*(?:FROM|image:)\s+['"]?([\w./-]+)`)
)

// manifestLine returns the dependency that a line of a manifest adds.
func manifestLine(p, line string) string {
	var re *regexp.Regexp
	switch manifestEcosystem(p) {
	case catalog.NPM, catalog.Composer:
		re = jsonDep
	case catalog.PyPI:
		if !strings.HasPrefix(path.Base(p), "requirements") {
			return ""
		}
		re = plainDep
	case catalog.Go:
		re = goDep
	case catalog.RubyGems:
		re = gemDep
	case catalog.Docker:
		re = imageDep
	default:
		return ""
	}
	if m := re.FindStringSubmatch(line); m != nil {
		return depName(m[1])
	}
	return ""
}
