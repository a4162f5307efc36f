package pick

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/transcript"
)

// commands finds installs. One that worked and left its mark in a manifest is
// told by the manifest already; one that failed, or was undone, was considered.
func (x *Extractor) commands(ctx context.Context, cmds []transcript.Command, diff []transcript.FileChange) ([]deed, error) {
	var out []deed
	removed := map[string]bool{}
	manifests := slices.ContainsFunc(diff, func(f transcript.FileChange) bool { return len(f.AddedDeps) > 0 })
	for _, c := range slices.Backward(cmds) { // backwards: a later removal undoes an earlier install
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, in := range slices.Backward(installs(c.Cmd)) {
			if in.remove {
				removed[in.name] = c.Exit == 0 || removed[in.name]
				continue
			}
			for _, t := range x.byPackage(in.eco, in.name) {
				gone := c.Exit != 0 || removed[in.name] || manifests && !in.global && !addsDep(diff, in.name)
				out = append(out, deed{t, Evidence{t.slug, LevelCommand, "command", "", 0, clipQuote(c.Cmd)}, false, gone})
			}
		}
	}
	return out, nil
}

func addsDep(diff []transcript.FileChange, name string) bool {
	for _, f := range diff {
		if slices.ContainsFunc(f.AddedDeps, func(d string) bool { return depName(d) == name }) {
			return true
		}
	}
	return false
}

// An install is one package that a command installs or removes.
type install struct {
	eco    catalog.Ecosystem
	name   string
	remove bool
	global bool // leaves no trace in a manifest
}

// A verb is how a package manager is told to install.
type verb struct {
	words          string
	eco            catalog.Ecosystem
	remove, global bool
}

func verbs() []verb {
	return []verb{
		{"npm install", catalog.NPM, false, false}, {"npm i", catalog.NPM, false, false}, {"npm add", catalog.NPM, false, false},
		{"pnpm add", catalog.NPM, false, false}, {"pnpm install", catalog.NPM, false, false}, {"pnpm i", catalog.NPM, false, false},
		{"yarn add", catalog.NPM, false, false}, {"bun add", catalog.NPM, false, false}, {"bun install", catalog.NPM, false, false},
		{"npx", catalog.NPM, false, true}, {"pnpm dlx", catalog.NPM, false, true}, {"bunx", catalog.NPM, false, true},
		{"npm uninstall", catalog.NPM, true, false}, {"npm remove", catalog.NPM, true, false}, {"npm rm", catalog.NPM, true, false},
		{"pnpm remove", catalog.NPM, true, false}, {"yarn remove", catalog.NPM, true, false}, {"bun remove", catalog.NPM, true, false},
		{"pip install", catalog.PyPI, false, false}, {"pip3 install", catalog.PyPI, false, false}, {"uv add", catalog.PyPI, false, false},
		{"uv pip install", catalog.PyPI, false, false}, {"poetry add", catalog.PyPI, false, false}, {"pdm add", catalog.PyPI, false, false},
		{"pipenv install", catalog.PyPI, false, false}, {"conda install", catalog.PyPI, false, false}, {"pipx install", catalog.PyPI, false, true},
		{"pip uninstall", catalog.PyPI, true, false}, {"pip3 uninstall", catalog.PyPI, true, false}, {"poetry remove", catalog.PyPI, true, false},
		{"uv remove", catalog.PyPI, true, false},
		{"go get", catalog.Go, false, false}, {"go install", catalog.Go, false, true},
		{"cargo add", catalog.Cargo, false, false}, {"cargo remove", catalog.Cargo, true, false},
		{"gem install", catalog.RubyGems, false, false}, {"bundle add", catalog.RubyGems, false, false},
		{"composer require", catalog.Composer, false, false}, {"dotnet add package", catalog.NuGet, false, false},
		{"apt-get install", catalog.System, false, true}, {"apt install", catalog.System, false, true},
		{"brew install", catalog.System, false, true}, {"docker pull", catalog.Docker, false, true}, {"docker run", catalog.Docker, false, true},
	}
}

var (
	separators = regexp.MustCompile(`&&|\|\||[;|\n()]`)
	shellWrap  = regexp.MustCompile(`^(?:/bin/)?(?:ba|z)?sh\s+-l?c\s+["']?`)
	envPrefix  = regexp.MustCompile(`^(?:sudo\s+|env\s+|[A-Z_][A-Z0-9_]*=\S*\s+|(?:python(?:3(?:\.\d+)?)?|py)\s+-m\s+|time\s+)+`)
	workspace  = regexp.MustCompile(`^(yarn|npm) workspace \S+ `)
	shellNote  = regexp.MustCompile(`(?:^|\s)#.*`)
)

// installs reads the packages out of a shell command. It knows the shapes that
// agents write, not the shell.
func installs(cmd string) []install {
	var out []install
	for _, part := range separators.Split(cmd, -1) {
		part = shellWrap.ReplaceAllString(strings.TrimSpace(part), "")
		part = envPrefix.ReplaceAllString(shellNote.ReplaceAllString(part, ""), "")
		part = workspace.ReplaceAllString(part, "$1 ")
		words := strings.Fields(strings.Trim(part, `"'`))
		for _, v := range verbs() {
			if rest, ok := afterVerb(words, strings.Fields(v.words)); ok {
				out = append(out, v.packages(rest)...)
				break
			}
		}
	}
	return out
}

// afterVerb returns the words behind a verb; flags and their values may stand
// between its words (`pnpm --filter app add`).
func afterVerb(words, verb []string) ([]string, bool) {
	for len(verb) > 0 {
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = dropFlag(words)
		}
		if len(words) == 0 || words[0] != verb[0] {
			return nil, false
		}
		words, verb = words[1:], verb[1:]
	}
	return words, true
}

// dropFlag drops a flag, and its value where the flag is known to have one.
func dropFlag(words []string) []string {
	valued := []string{"--filter", "-F", "-C", "--prefix", "--cwd", "--registry", "-i", "--index-url", "--extra-index-url", "-w", "--workspace", "-c", "--channel", "--group", "-G", "--name", "-p", "-e", "-v"}
	if slices.Contains(valued, words[0]) && len(words) > 1 {
		return words[2:]
	}
	return words[1:]
}

func (v verb) packages(words []string) []install {
	var out []install
	for len(words) > 0 {
		w := strings.Trim(words[0], `"'`)
		switch {
		case strings.HasPrefix(w, "-"):
			words = dropFlag(words)
			continue
		case strings.HasPrefix(w, ".") || strings.HasPrefix(w, "/") || strings.Contains(w, "://"):
		default:
			if name := depName(w); name != "" {
				out = append(out, install{v.eco, name, v.remove, v.global})
			}
		}
		words = words[1:]
		if v.global && v.eco != catalog.System {
			break // what follows are arguments of the program
		}
	}
	return out
}
