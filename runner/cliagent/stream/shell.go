package stream

import (
	"path"
	"strings"

	"github.com/firstpick/firstpick/runner/shell"
)

// unwrap returns the command that is run: without a wrapping `bash -lc`, whether it
// comes as one text or as a list of words.
func unwrap(command []string) string {
	if len(command) == 1 {
		if words, ok := shell.Words(command[0]); ok {
			if c, ok := wrapped(words); ok {
				return c
			}
		}
		return command[0]
	}
	if c, ok := wrapped(command); ok {
		return c
	}
	return strings.Join(command, " ")
}

// wrapped returns the command of a call such as `/bin/bash -lc COMMAND`.
func wrapped(words []string) (string, bool) {
	if len(words) < 3 {
		return "", false
	}
	switch path.Base(words[0]) {
	case "bash", "sh", "zsh", "dash", "ash":
	default:
		return "", false
	}
	// The options are one letter each, and the one that takes the command is last.
	last := words[len(words)-2]
	if !strings.HasPrefix(last, "-") || strings.HasPrefix(last, "--") || !strings.HasSuffix(last, "c") {
		return "", false
	}
	for _, w := range words[1 : len(words)-2] {
		if !strings.HasPrefix(w, "-") {
			return "", false
		}
	}
	return words[len(words)-1], true
}
