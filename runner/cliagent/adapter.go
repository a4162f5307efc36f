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

// A setup is everything that a program is started with, for one agent under its
// conditions. {prompt}, {workdir}, {home}, {tmp} and {model} stand for what a trial
// puts there, in arguments, variables and files.
type setup struct {
	binary  string   // a name or a path
	install string   // how to get it
	format  string   // of its stream: FormatText, or a kind; empty for the agent's own
	text    bool     // the stream is text, not a JSON value a line
	args    []string // after the program
	env     []variable
	dirs    []string          // below the home
	files   map[string]string // below the home, by path
	// report is a file in which the program tells what its stream does not.
	report string
	// caches are folders below the home that the program fills by itself when it
	// starts for the first time, even to tell its version. They are kept from then
	// and copied into every trial's home, which saves it the work. Nothing of a trial
	// is ever in them.
	caches []string
	// commands are the first letters that would make a command of a prompt.
	commands string
	key      credential
	host     string // of the model
	vendor   string // that sells the model, as the price table calls it
	memoryMB int    // of one trial
	// caps means that the program itself ends a trial that costs too much.
	caps bool
}

// A variable is one of a program's environment.
type variable struct{ name, value string }

// A credential is how a program gets its key: the names of the variables that may
// hold it here, in the order they are looked at, and its name for the program.
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

// setupOf returns the setup of an agent. A condition that its program cannot keep
// is an error: it must not be dropped.
func setupOf(a eval.Agent) (*setup, error) {
	k, ok := kinds()[a.Kind]
	if !ok {
		return nil, fmt.Errorf("kind %q is not a program on this machine", a.Kind)
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
				return nil, fmt.Errorf("base_url: %s is sent no key unless api_key_env names the variable that holds it, such as %s", u.Host, s.key.from[0])
			}
			s.key.from = nil
		}
		s.host = u.Host
		s.vendor = "" // whoever answers there has prices of their own
	}
	return s, nil
}

// pure fails for a purity that a program does not have.
func pure(a eval.Agent, has ...string) error {
	if a.CLI.Purity == "" || a.CLI.Purity == eval.PurityDefault || slices.Contains(has, a.CLI.Purity) {
		return nil
	}
	return fmt.Errorf("purity %s: %s has only %s", a.CLI.Purity, a.Kind, strings.Join(append([]string{eval.PurityDefault}, has...), ", "))
}

// effort fails for a word that a program would pass over in silence.
func effort(a eval.Agent, words ...string) error {
	if a.Effort == "" || slices.Contains(words, a.Effort) {
		return nil
	}
	return fmt.Errorf("effort %q: %s knows %s", a.Effort, a.Kind, strings.Join(words, ", "))
}

// off reports whether web search is switched off; on, whether it is switched on.
func off(a eval.Agent) bool { return a.WebSearch != nil && !*a.WebSearch }
func on(a eval.Agent) bool  { return a.WebSearch != nil && *a.WebSearch }

// dollars writes an amount as programs take it.
func dollars(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
