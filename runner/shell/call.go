package shell

import "strings"

// Is reports whether a program is a shell that runs a text by -c.
func Is(program string) bool {
	switch program {
	case "bash", "sh", "zsh", "dash", "ash", "ksh":
		return true
	}
	return false
}

// Script returns the text that the arguments of a shell run by -c, alone or behind
// other letters (`-lc TEXT`), and the arguments of the text. ok is false for a file or
// an interactive shell.
func Script(args []string) (text string, rest []string, ok bool) {
	for i, a := range args {
		switch {
		case !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+"):
			return "", nil, false // a file
		case !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") && i+1 < len(args):
			return args[i+1], args[i+2:], true
		}
	}
	return "", nil, false
}
