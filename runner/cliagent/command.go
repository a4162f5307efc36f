package cliagent

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
)

// command runs any other program, with the command line of the eval.
func command(a eval.Agent) (*setup, error) {
	if a.CLI.Binary != "" {
		return nil, errors.New("binary: not allowed for kind command, whose first argument is the program; remove it")
	}
	if len(a.CLI.Command) == 0 {
		return nil, errors.New("command is missing: the program and its arguments, as a list")
	}
	args := append(slices.Clone(a.CLI.Command[1:]), a.CLI.Args...)
	if !slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, "{prompt}") }) {
		return nil, errors.New("command: one argument must contain {prompt}")
	}
	s := &setup{binary: a.CLI.Command[0], install: "install it, or put its whole path into command", format: cmp.Or(a.CLI.Format, FormatText), args: args, memoryMB: 300}
	s.text = s.format == FormatText
	return s, nil
}
