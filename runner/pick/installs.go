package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/shell"
)

// An install is one package that a command installs or removes.
type install struct {
	eco    catalog.Ecosystem
	name   string
	remove bool
	global bool // leaves no trace in a manifest
	// dev means that the package is a tool of the developers, or runs only once.
	dev bool
	// excused and fallback are those of shell.Command: alternatives of which one worked.
	excused, fallback bool
}

// maxNested limits shells within shells.
const maxNested = 5

// installTools are the programs that install packages, and those that run them.
type installTools struct {
	managers map[string]*manager
	wrappers map[string][]wrapper
	names    []string // of managers; one that begins with another is left out
}

func newInstallTools() *installTools {
	t := &installTools{managers: map[string]*manager{}, wrappers: map[string][]wrapper{}}
	for _, m := range managers() {
		for _, name := range m.programs {
			t.managers[name] = &m
			t.names = append(t.names, name)
		}
	}
	slices.Sort(t.names)
	t.names = slices.CompactFunc(t.names, func(a, b string) bool { return strings.HasPrefix(b, a) })
	for _, w := range wrappers() {
		t.wrappers[w.program] = append(t.wrappers[w.program], w)
	}
	return t
}

// named reports whether a text has the name of a package manager in it.
func (t *installTools) named(text string) bool { return containsAny(text, t.names) }

// installs returns the packages that a shell text installs, also through wrappers.
func (t *installTools) installs(text string) []install { return t.run(shell.Commands(text), 0) }

func (t *installTools) run(commands []shell.Command, depth int) []install {
	if depth > maxNested {
		return nil
	}
	var out []install
	for _, c := range commands {
		run := t.unwrap(c.Words)
		found := run.installs
		switch {
		case run.script != "":
			found = append(found, t.run(shell.Commands(run.script), depth+1)...)
		case run.shell && len(run.words) == 1:
			found = append(found, t.run(shell.Commands(c.Input), depth+1)...)
		case len(run.words) > 0:
			found = append(found, t.managed(run.words)...)
		}
		for i := range found {
			found[i].excused = found[i].excused || c.Excused
			found[i].fallback = found[i].fallback || c.Fallback
		}
		out = append(out, found...)
	}
	return out
}

// managed parses the call of a package manager.
func (t *installTools) managed(words []string) []install {
	m := t.managers[program(words[0])]
	if m == nil {
		return nil
	}
	for _, v := range m.verbs {
		if rest, ok := m.after(words[1:], v.words); ok {
			if v.op != run && m.isTrial(words[1:]) {
				return nil
			}
			return m.packages(v, rest)
		}
	}
	return nil
}

// isTrial reports whether a command changes nothing: a dry run, or a call for help.
func (m *manager) isTrial(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "--dry-run", "--help", "--simulate", "--just-print", "--no-act", "--recon", "--explain", "--download-only", "--downloadonly", "--assumeno":
			return true
		}
		return m.trial.has(w)
	})
}

// isDev reports whether flags put packages among the tools of the developers.
func (m *manager) isDev(words []string) bool {
	for i, w := range words {
		flag, value, _ := strings.Cut(w, "=")
		if m.dev.has(flag) {
			return true
		}
		if flag == "--group" || flag == "-G" {
			if value == "" && i+1 < len(words) {
				value = words[i+1]
			}
			switch strings.ToLower(value) {
			case "dev", "develop", "development", "test", "tests", "lint", "docs":
				return true
			}
		}
	}
	return false
}

// program returns the name of a program without folder and Windows extension.
func program(word string) string {
	word = word[strings.LastIndexAny(word, `/\`)+1:]
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		word = strings.TrimSuffix(word, ending)
	}
	if rest, ok := strings.CutPrefix(word, "python"); ok && strings.Trim(rest, "0123456789.") == "" {
		return "python"
	}
	if rest, ok := strings.CutPrefix(word, "pip"); ok && rest != "" && strings.Trim(rest, "0123456789.") == "" {
		return "pip"
	}
	return word
}

// after returns the words after a verb; flags and their values may be between its words
// (`pnpm --filter app add`). A * in a verb is any one word.
func (m *manager) after(words, verb []string) ([]string, bool) {
	for len(verb) > 0 {
		words = m.skipFlags(words)
		if len(words) == 0 || verb[0] != "*" && words[0] != verb[0] {
			return nil, false
		}
		words, verb = words[1:], verb[1:]
	}
	return words, true
}

func (m *manager) skipFlags(words []string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		words = m.skipFlag(words)
	}
	return words
}

// skipFlag skips a flag and its value.
func (m *manager) skipFlag(words []string) []string {
	if m.packaged.has(words[0]) {
		return words[min(2, len(words)):]
	}
	return m.valued.skip(words)
}

// flags are names of flags.
type flags map[string]bool

func flagsOf(names string) flags {
	f := flags{}
	for _, name := range strings.Fields(names) {
		f[name] = true
	}
	return f
}

func (f flags) has(name string) bool { return f[name] }

// skip skips a flag, and its value if the flag is one of f.
func (f flags) skip(words []string) []string {
	if f.has(words[0]) {
		return words[min(2, len(words)):]
	}
	return words[1:]
}

// packages parses the words after a verb.
func (m *manager) packages(v verb, words []string) []install {
	global := v.op == run || v.global || slices.Contains(words, "-g") || slices.Contains(words, "--global")
	dev := m.isDev(words)
	var out []install
	add := func(name string) {
		if name = m.name(name); name != "" {
			once := v.op == run && !strings.Contains(name, "create-")
			out = append(out, install{eco: m.eco, name: name, remove: v.op == remove, global: global, dev: dev || once})
		}
	}
	named := false // by a flag, so that the first word is a program of the package
	for len(words) > 0 {
		w := words[0]
		flag, value, _ := strings.Cut(w, "=")
		switch {
		case !strings.HasPrefix(w, "-"):
			if v.op == create {
				add(created(w))
			} else if !named || v.op != run {
				add(w)
			}
			if v.op == create || v.op == run {
				return out // the rest are arguments of the program
			}
			words = words[1:]
			continue
		case m.packaged.has(flag):
			if value == "" && len(words) > 1 {
				value = words[1]
			}
			for name := range strings.SplitSeq(value, ",") {
				add(name)
			}
			named = named || flag != "--with" && flag != "-w" // uv: in addition to the first word
		}
		if strings.Contains(w, "=") {
			words = words[1:]
		} else {
			words = m.skipFlag(words)
		}
	}
	return out
}

// name returns the package name in a word; empty for a path, an address or another
// registry.
func (m *manager) name(word string) string {
	if _, target, ok := strings.Cut(word, "@npm:"); ok { // npm: another name for a package
		word = target
	}
	registry, rest, ok := strings.Cut(word, ":")
	switch {
	case m.registry != "" && (!ok || registry != m.registry), registry == "file":
		return ""
	case m.registry != "":
		word = rest
	}
	if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "/") || strings.HasPrefix(word, "~") || strings.Contains(word, "://") {
		return ""
	}
	return depName(word)
}

// created returns the package that `npm create` runs: vite is create-vite, @vite/app is
// @vite/create-app, @vite is @vite/create.
func created(word string) string {
	name := depName(word)
	scope, rest, ok := strings.Cut(name, "/")
	switch {
	case !strings.HasPrefix(name, "@"):
		return "create-" + name
	case !ok:
		return scope + "/create"
	default:
		return scope + "/create-" + rest
	}
}
