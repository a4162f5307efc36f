package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/shell"
)

// A call is the program that a command finally runs.
type call struct {
	words    []string  // the program and its arguments
	shell    bool      // the program is a shell
	script   string    // the text that the shell is given
	installs []install // by the wrapper of the program (`uv run --with X`)
}

// A wrapper is a program that runs another one.
type wrapper struct {
	program string
	second  string // words behind it
	valued  flags
	assigns bool // NAME=VALUE may precede the program
	args    int  // words before the program
}

func wrappers() []wrapper {
	inside := "-e --env --env-file -u --user -w --workdir --index -v --volume -p --publish --name --entrypoint"
	return []wrapper{
		{program: "sudo", valued: flagsOf("-u -g -h -p -C -T -U -D -R -r -t --user --group --host --prompt --chdir --chroot"), assigns: true},
		{program: "doas", valued: flagsOf("-u -C")},
		{program: "env", valued: flagsOf("-u --unset -C --chdir"), assigns: true},
		{program: "cross-env", assigns: true},
		{program: "timeout", valued: flagsOf("-s --signal -k --kill-after"), args: 1},
		{program: "gtimeout", valued: flagsOf("-s --signal -k --kill-after"), args: 1},
		{program: "nice", valued: flagsOf("-n --adjustment")},
		{program: "ionice", valued: flagsOf("-c --class -n --classdata -p --pid")},
		{program: "stdbuf", valued: flagsOf("-i --input -o --output -e --error")},
		{program: "time", valued: flagsOf("-f --format -o --output")},
		{program: "xargs", valued: flagsOf("-I -n -P -L -d -E -s -a --max-args --max-procs --max-lines --delimiter --arg-file")},
		{program: "nohup"}, {program: "command"}, {program: "builtin"}, {program: "exec", valued: flagsOf("-a")}, {program: "setsid"}, {program: "unbuffer"}, {program: "corepack"},
		{program: "conda", second: "run", valued: flagsOf("-n --name -p --prefix --cwd")}, {program: "mamba", second: "run", valued: flagsOf("-n --name -p --prefix --cwd")},
		{program: "micromamba", second: "run", valued: flagsOf("-n --name -p --prefix --cwd")},
		{program: "poetry", second: "run"}, {program: "pipenv", second: "run"}, {program: "pdm", second: "run"}, {program: "rye", second: "run"}, {program: "hatch", second: "run"}, {program: "bundle", second: "exec"},
		{program: "docker", second: "exec", valued: flagsOf(inside), args: 1}, {program: "podman", second: "exec", valued: flagsOf(inside), args: 1},
		{program: "docker", second: "compose exec", valued: flagsOf(inside), args: 1}, {program: "docker", second: "compose run", valued: flagsOf(inside), args: 1},
		{program: "docker-compose", second: "exec", valued: flagsOf(inside), args: 1}, {program: "docker-compose", second: "run", valued: flagsOf(inside), args: 1},
		{program: "cmd", second: "/c"}, {program: "cmd", second: "/C"},
	}
}

// unwrap removes wrappers.
func (t *installTools) unwrap(words []string) call {
	c := call{words: words}
	for len(c.words) > 0 {
		name := program(c.words[0])
		if shell.Is(name) {
			c.shell = true
			c.script, _, _ = shell.Script(c.words[1:])
			return c
		}
		switch name {
		case "powershell", "pwsh":
			c.script = powershell(c.words[1:])
			return c
		case "eval":
			c.script = strings.Join(c.words[1:], " ")
			return c
		case "python", "py":
			at := slices.Index(c.words, "-m")
			if at < 0 || slices.ContainsFunc(c.words[1:at], func(w string) bool { return !strings.HasPrefix(w, "-") }) {
				return c
			}
			c.words = c.words[at+1:]
			continue
		case "uv":
			if !c.uvRun(t.managers["uv"]) {
				return c
			}
			continue
		}
		rest, ok := t.inner(name, c.words)
		if !ok {
			return c
		}
		c.words = rest
	}
	return c
}

// inner returns the command that a wrapper runs.
func (t *installTools) inner(name string, words []string) ([]string, bool) {
	for _, w := range t.wrappers[name] {
		words := words[1:]
		if second := strings.Fields(w.second); len(second) > 0 {
			if len(words) < len(second) || !slices.Equal(words[:len(second)], second) {
				continue
			}
			words = words[len(second):]
		}
		for len(words) > 0 {
			if strings.HasPrefix(words[0], "-") {
				words = w.valued.skip(words)
			} else if w.assigns && strings.Contains(words[0], "=") {
				words = words[1:]
			} else {
				break
			}
		}
		return words[min(w.args, len(words)):], true
	}
	return nil, false
}

// powershell returns the command text of PowerShell; without a flag, all words.
func powershell(args []string) string {
	for i, a := range args {
		switch flag := strings.ToLower(a); {
		case flag == "-file" || flag == "-f":
			return ""
		case flag == "-command" || flag == "-c" || !strings.HasPrefix(a, "-") && i == 0:
			return strings.Join(args[i+min(1, len(a)-len(strings.TrimPrefix(a, "-"))):], " ")
		}
	}
	return ""
}

// uvRun removes `uv run` with its flags. It installs the packages of --with for this
// one run.
func (c *call) uvRun(uv *manager) bool {
	rest, ok := uv.after(c.words[1:], []string{"run"})
	if !ok {
		return false
	}
	all := rest
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && rest[0] != "-m" && rest[0] != "--module" {
		if strings.Contains(rest[0], "=") {
			rest = rest[1:]
		} else {
			rest = uv.skipFlag(rest)
		}
	}
	c.installs = append(c.installs, uv.packages(verb{global: true}, all[:len(all)-len(rest)])...)
	if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		rest = rest[1:] // -m: a module
	}
	c.words = rest
	return true
}
