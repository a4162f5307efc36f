package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/shell"
	"github.com/firstpick/firstpick/runner/transcript"
)

// maxWritten limits the files that commands write, as a diff of a workspace is limited.
const maxWritten = 2000

// written returns the files that commands write with here-documents, echo and printf,
// for transcripts without a workspace. Files of /tmp are not kept.
func written(ran []*execution) []transcript.FileChange {
	var out []transcript.FileChange
	for _, c := range ran {
		if !c.Worked() || !containsAny(c.Cmd, []string{">", "tee ", "patch", "git ", "rm "}) {
			continue
		}
		for _, s := range c.commands() {
			if len(out) >= maxWritten {
				return out
			}
			if patch := appliedPatch(s); patch != "" {
				out = append(out, patchFiles("", strings.Split(patch, "\n"))...)
				continue
			}
			out = removed(out, s)
			file, text, more := writes(s)
			if file == "" || strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "/dev/") || strings.ContainsAny(file, "$`") {
				continue
			}
			at := slices.IndexFunc(out, func(f transcript.FileChange) bool { return f.Path == file })
			if at < 0 {
				at = len(out)
				out = append(out, transcript.FileChange{Path: file})
			}
			if !more {
				out[at].Added = nil
			}
			out[at].Added = append(out[at].Added, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
	}
	return out
}

// removed returns the files that remain after a command that removes some or sets the
// work folder back.
func removed(files []transcript.FileChange, c shell.Command) []transcript.FileChange {
	if len(files) == 0 || len(c.Words) < 2 {
		return files
	}
	args := c.Words[1:]
	switch program(c.Words[0]) {
	case "git":
		if all := args[0] == "clean" || args[0] == "reset" && slices.Contains(args, "--hard") || args[0] == "stash" && len(args) == 1; all {
			return nil
		}
		if args[0] != "checkout" && args[0] != "restore" && args[0] != "rm" {
			return files
		}
		args = args[1:]
	case "rm", "unlink":
	default:
		return files
	}
	return slices.DeleteFunc(files, func(f transcript.FileChange) bool {
		return slices.ContainsFunc(args, func(arg string) bool {
			arg = strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
			return arg == "." || arg == "*" || strings.TrimPrefix(f.Path, "./") == arg || strings.HasPrefix(strings.TrimPrefix(f.Path, "./"), arg+"/")
		})
	})
}

// writes returns the file that a command writes, and its text.
func writes(c shell.Command) (file, text string, more bool) {
	file, more = c.Output, c.Append
	switch program(c.Words[0]) {
	case "cat":
		if len(c.Words) > 1 {
			return "", "", false
		}
		return file, c.Input, more
	case "tee":
		for _, arg := range c.Words[1:] {
			switch {
			case arg == "-a" || arg == "--append":
				more = true
			case !strings.HasPrefix(arg, "-"):
				return arg, c.Input, more
			}
		}
		return "", "", false
	case "echo", "printf":
		words := c.Words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			words = words[1:]
		}
		return file, strings.ReplaceAll(strings.Join(words, " "), `\n`, "\n"), more
	}
	return "", "", false
}

// appliedPatch returns the diff that a command applies from its here-document or its
// argument.
func appliedPatch(c shell.Command) string {
	switch program(c.Words[0]) {
	case "apply_patch", "applypatch", "patch":
	case "git":
		if len(c.Words) < 2 || c.Words[1] != "apply" {
			return ""
		}
	default:
		return ""
	}
	if slices.ContainsFunc(c.Words, func(w string) bool { return w == "--dry-run" || w == "--check" || w == "-R" || w == "--reverse" }) {
		return ""
	}
	if c.Input == "" && len(c.Words) == 2 && strings.Contains(c.Words[1], "\n") {
		return c.Words[1]
	}
	return c.Input
}

// patchFiles returns the files of a diff with the lines that it adds: unified, or as
// apply_patch writes it. name is the file of lines before the first header.
func patchFiles(name string, lines []string) []transcript.FileChange {
	out := []transcript.FileChange{{Path: name}}
	for _, line := range lines {
		file, ok := strings.CutPrefix(line, "+++ ")
		for _, mark := range []string{"*** Add File: ", "*** Update File: "} {
			if rest, found := strings.CutPrefix(line, mark); found {
				file, ok = rest, true
			}
		}
		if ok {
			file, _, _ = strings.Cut(strings.TrimSpace(file), "\t")
			out = append(out, transcript.FileChange{Path: strings.TrimPrefix(file, "b/")})
		} else if added, ok := strings.CutPrefix(line, "+"); ok {
			out[len(out)-1].Added = append(out[len(out)-1].Added, added)
		}
	}
	if len(out[0].Added) == 0 {
		out = out[1:]
	}
	return out
}
