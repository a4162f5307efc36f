package stream

import (
	"path"
	"strings"

	"github.com/firstpick/firstpick/runner/shell"
)

// unwrap returns the executed command without a wrapping `bash -lc`, as one text or as
// a list of words.
func unwrap(command []string) string {
	words := command
	if len(command) == 1 {
		words, _ = shell.Words(command[0])
	}
	if len(words) > 1 && shell.Is(path.Base(words[0])) {
		if script, args, ok := shell.Script(words[1:]); ok && len(args) == 0 {
			return script
		}
	}
	return strings.Join(command, " ")
}
