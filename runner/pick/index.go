package pick

import (
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// An index finds the targets of a trace with a few look-ups, however many targets there
// are. Keys are whole identifiers, so hash tables do what a multi-pattern search would,
// without false hits inside longer words.
type index struct {
	packages, imports map[catalog.Ecosystem]map[string][]*target
	hosts, env, files map[string][]*target
	// globs are the targets whose config files are patterns.
	globs []*target
	// envPrefixes are patterns without their trailing *, envLengths their lengths.
	envPrefixes map[string][]*target
	envLengths  []int
	// domains are the last labels of hosts, labels the most labels of one.
	domains map[string]bool
	labels  int
	services
	// programs are the commands of vendors by their program.
	programs map[string][]vendorCommand
}

func newIndex(targets []*target) *index {
	x := &index{
		packages: map[catalog.Ecosystem]map[string][]*target{}, imports: map[catalog.Ecosystem]map[string][]*target{},
		hosts: map[string][]*target{}, env: map[string][]*target{}, files: map[string][]*target{},
		envPrefixes: map[string][]*target{}, domains: map[string]bool{}, services: newServices(targets), programs: map[string][]vendorCommand{},
	}
	for _, t := range targets {
		for eco, names := range t.Packages {
			put(submap(x.packages, eco), t, names, func(name string) string { return catalog.PackageKey(eco, name) })
			if eco == catalog.Maven { // also found by the artifact, where a line lacks the group
				put(submap(x.packages, eco), t, names, artifact)
			}
		}
		for eco, names := range t.Imports {
			put(submap(x.imports, eco), t, names, nil)
		}
		x.addCommands(t)
		put(x.hosts, t, t.Hosts, strings.ToLower)
		put(x.files, t, t.Files, nil)
		if slices.ContainsFunc(t.Files, func(f string) bool { return strings.ContainsAny(f, `/*?[\`) }) {
			x.globs = append(x.globs, t)
		}
		for _, host := range t.Hosts {
			x.domains[strings.ToLower(host[strings.LastIndexByte(host, '.')+1:])] = true
			x.labels = max(x.labels, strings.Count(host, ".")+1)
		}
		for _, pattern := range t.Env {
			prefix, isPrefix := strings.CutSuffix(pattern, "*")
			if !isPrefix {
				put(x.env, t, []string{pattern}, nil)
				continue
			}
			put(x.envPrefixes, t, []string{prefix}, nil)
			if !slices.Contains(x.envLengths, len(prefix)) {
				x.envLengths = append(x.envLengths, len(prefix))
			}
		}
	}
	slices.Sort(x.envLengths)
	return x
}

// artifact returns the part of a Maven name from its colon on; empty where that is a
// common word.
func artifact(name string) string {
	_, rest, ok := strings.Cut(name, ":")
	if !ok || !strings.Contains(rest, "-") {
		return ""
	}
	return ":" + rest
}

func submap(m map[catalog.Ecosystem]map[string][]*target, eco catalog.Ecosystem) map[string][]*target {
	if m[eco] == nil {
		m[eco] = map[string][]*target{}
	}
	return m[eco]
}

// put adds a target under each name, folded where fold is not nil, once.
func put(m map[string][]*target, t *target, names []string, fold func(string) string) {
	for _, name := range names {
		if fold != nil {
			name = fold(name)
		}
		if name != "" && !slices.Contains(m[name], t) {
			m[name] = append(m[name], t)
		}
	}
}

// maxName is the length in bytes of the longest name that is looked up.
const maxName = 300

// byPackage returns the targets that own a package.
func (x *index) byPackage(eco catalog.Ecosystem, name string) []*target {
	if name == "" || len(name) > maxName {
		return nil
	}
	name = catalog.PackageKey(eco, name)
	found := x.packages[eco][name]
	if eco != catalog.Go || len(found) > 0 {
		return found
	}
	for i := strings.LastIndexByte(name, '/'); i > 0 && len(found) == 0; i = strings.LastIndexByte(name[:i], '/') {
		found = x.packages[eco][name[:i]] // a package inside a module
	}
	return found
}

// byImport returns the targets that own a module, or one that it is inside of: the
// longest name counts.
func (x *index) byImport(m module) []*target {
	names := x.imports[m.eco]
	if len(names) == 0 || len(m.name) > maxName {
		return nil
	}
	for end := len(m.name); end > 0; end = strings.LastIndexAny(m.name[:end], `./:\`) {
		if found := names[m.name[:end]]; len(found) > 0 {
			return found
		}
	}
	return nil
}

// byFile returns the targets whose config file a file is.
func (x *index) byFile(p string) []*target {
	found := x.files[path.Base(p)]
	for _, t := range x.globs {
		if !slices.Contains(found, t) && t.OwnsFile(p) {
			found = append(slices.Clip(found), t)
		}
	}
	return found
}

// byEnv returns the targets of an environment variable.
func (x *index) byEnv(name string) []*target {
	found := x.env[name]
	for _, n := range slices.Backward(x.envLengths) {
		if n <= len(name) {
			if more := x.envPrefixes[name[:n]]; len(more) > 0 {
				found = append(slices.Clip(found), more...)
			}
		}
	}
	return found
}

// byHost returns the targets of a host name, in any case, or of a domain that it is in:
// the longest name counts.
func (x *index) byHost(host string) (found []*target) {
	var folded [maxName]byte
	if len(x.hosts) == 0 || len(host) > maxName {
		return nil
	}
	for i := range len(host) {
		folded[i] = lowerASCII(host[i])
	}
	name := folded[:len(host)]
	from := len(name)
	for label := 1; label <= x.labels && from > 0; label++ {
		for from--; from > 0 && name[from-1] != '.'; {
			from--
		}
		if label == 1 && !x.domains[string(name[from:])] {
			return nil
		}
		if longer := x.hosts[string(name[from:])]; len(longer) > 0 {
			found = longer
		}
	}
	return found
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
