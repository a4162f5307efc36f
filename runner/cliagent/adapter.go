package cliagent

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// A setup is everything that starts a program for one agent under its conditions.
// {prompt}, {workdir}, {home}, {tmp} and {model} are placeholders in arguments, variables
// and files; each trial fills them.
type setup struct {
	binary  string   // a name or a path
	install string   // how to get it
	format  string   // of its stream: FormatText, or a kind; empty for the agent's kind
	text    bool     // the stream is text, not a JSON value a line
	args    []string // after the program
	env     []variable
	dirs    []string          // below the home
	files   map[string]string // below the home, by path
	// report is a file with results that are not in the stream.
	report string
	// caches are folders below the home that the program fills at its first start, even
	// for --version. They are kept and copied into every trial's home to save time. They
	// never hold files of a trial.
	caches []string
	// commands are the first characters that would turn a prompt into a command.
	commands string
	key      credential
	host     string // of the model
	vendor   string // in the price table
	memoryMB int    // of one trial
	// caps means that the program itself enforces the cost limit.
	caps bool
}

// folderVariables are set for each trial, whatever the kind.
var folderVariables = []string{"HOME", "TMPDIR", "LANG", "TERM", "NO_COLOR", "CI"}

// A variable is one of a program's environment.
type variable struct{ name, value string }

// A credential is a program's key: the variables that may hold it here, in order of
// preference, and its variable for the program.
type credential struct {
	from []string
	as   string
}

// keyOf returns the credential of the kind's own variables. The program reads it from the
// variable name.
func keyOf(a eval.Agent, name string) credential {
	k, _ := eval.KindNamed(a.Kind)
	return credential{from: strings.Fields(k.KeyEnv), as: name}
}

func (s *setup) add(args ...string) { s.args = append(s.args, args...) }

func (s *setup) set(name, value string) { s.env = append(s.env, variable{name, value}) }

// setupOf returns the setup of an agent. A condition that its program cannot keep is an
// error.
func setupOf(a eval.Agent) (*setup, error) {
	k, ok := kinds()[a.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q is not an agent program", a.Kind)
	}
	s, err := k.setup(a)
	if err != nil {
		return nil, err
	}
	s.format = cmp.Or(s.format, a.Kind)
	s.env = append([]variable{
		{"HOME", "{home}"}, {"TMPDIR", "{tmp}"}, {"LANG", "C.UTF-8"}, {"TERM", "dumb"}, {"NO_COLOR", "1"}, {"CI", "1"},
	}, s.env...)
	if a.CLI.Binary != "" {
		s.binary = a.CLI.Binary
	}
	if a.APIKeyEnv != "" {
		s.key.from = []string{a.APIKeyEnv}
		if s.key.as == "" {
			s.key.as = a.APIKeyEnv
		}
	}
	if a.CLI.MemoryMB > 0 {
		s.memoryMB = a.CLI.MemoryMB
	}
	if u, err := url.Parse(a.BaseURL); err == nil && u.Host != "" {
		// A provider's own key goes to the provider's own address only.
		if (u.Scheme != "https" || u.Host != s.host) && a.APIKeyEnv == "" && len(s.key.from) > 0 {
			if len(a.CLI.Env) == 0 {
				return nil, fmt.Errorf("base_url: %s gets no key unless api_key_env names its variable, such as %s", u.Host, s.key.from[0])
			}
			s.key.from = nil
		}
		s.host = u.Host
		s.vendor = "" // other addresses have other prices
	}
	return s, nil
}

// pure returns an error for a purity that a program does not have.
func pure(a eval.Agent, has ...string) error {
	if a.CLI.Purity == "" || a.CLI.Purity == eval.PurityDefault || slices.Contains(has, a.CLI.Purity) {
		return nil
	}
	return fmt.Errorf("purity %s: %s has only %s", a.CLI.Purity, a.Kind, strings.Join(append([]string{eval.PurityDefault}, has...), ", "))
}

// effort returns an error for a value that a program would ignore in silence.
func effort(a eval.Agent, words ...string) error {
	if a.Effort == "" || slices.Contains(words, a.Effort) {
		return nil
	}
	return fmt.Errorf("effort %q: %s accepts %s", a.Effort, a.Kind, strings.Join(words, ", "))
}

// off reports whether web search is off, on whether it is on; unset is neither.
func off(a eval.Agent) bool { return a.WebSearch != nil && !*a.WebSearch }
func on(a eval.Agent) bool  { return a.WebSearch != nil && *a.WebSearch }

// dollars formats an amount for a flag.
func dollars(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
