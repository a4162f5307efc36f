package setup

import "strings"

// A Hook is code of a recipe that joins the collector to a site, with the sentence above it.
type Hook struct{ Text, Code string }

// Hooks returns the code of a stack's recipe besides its files, and of a drain the address
// that the platform sends to. Keys in it are SecretKey or LogKey.
func (s *Stack) Hooks(base string) (out []Hook) {
	text, code, inside, ended := "", []string{}, false, false // ended: a paragraph
	marks := strings.NewReplacer("**", "", "`", "")           // of Markdown
	for line := range strings.Lines(strings.ReplaceAll(read("recipes/"+s.Slug+".md"), Placeholder, base)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```") && inside:
			if number, rest, ok := strings.Cut(text, ". "); ok && len(number) == 1 { // of the recipe, not of our steps
				text = rest
			}
			out = append(out, Hook{text, strings.Join(code, "\n")})
			text, code, inside = "", nil, false
		case strings.HasPrefix(line, "```"):
			inside = true
		case inside:
			code = append(code, line)
		case strings.HasPrefix(line, "- ") && strings.Contains(line, LogKey):
			if label, quoted, ok := strings.Cut(line[2:], ": `"); ok {
				out = append(out, Hook{label + ":", strings.TrimSuffix(quoted, "`")})
			}
		case line == "":
			ended = true
		case strings.HasPrefix(line, "- "):
			text = ""
		default:
			if ended {
				text, ended = "", false
			}
			text = strings.TrimSpace(text + " " + marks.Replace(line))
		}
	}
	return out
}

// The placeholders of keys in recipes.
const (
	SecretKey = "sk_live_..."
	LogKey    = "log_live_..."
)
