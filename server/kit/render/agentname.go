package render

import (
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

var (
	dated   = lazyregexp.MustCompile(`-(20\d{6}|20\d\d-\d\d-\d\d|\d{4})$`)
	version = lazyregexp.MustCompile(`^v?\d+(\.\d+)?[a-z]?$`)
	size    = lazyregexp.MustCompile(`^\d+(\.\d+)?b$`) // billions of parameters
)

// spelled are the words that vendors spell otherwise than with a capital letter first.
var spelled = map[string]string{"gpt": "GPT", "llm": "LLM", "deepseek": "DeepSeek", "oss": "OSS", "glm": "GLM", "mini": "Mini"}

// AgentName returns a name of an agent for people: claude-3-5-sonnet-20241022 is Claude 3.5
// Sonnet. A name with capitals or spaces stays as it is; pages have the exact name too.
func AgentName(name string) string {
	if strings.ContainsFunc(name, func(c rune) bool { return unicode.IsUpper(c) || unicode.IsSpace(c) }) {
		return name
	}
	short := dated.ReplaceAllString(name[strings.LastIndexByte(name, '/')+1:], "")
	var out []string
	for _, word := range strings.FieldsFunc(short, func(c rune) bool { return c == '-' || c == '_' || c == ':' }) {
		switch last := len(out) - 1; {
		case last >= 0 && version.MatchString(out[last]) && !strings.Contains(out[last], ".") && len(word) == 1 && word[0] >= '0' && word[0] <= '9':
			out[last] += "." + word
		case spelled[word] != "":
			out = append(out, spelled[word])
		case size.MatchString(word):
			out = append(out, strings.ToUpper(word))
		case version.MatchString(word):
			out = append(out, word)
		default:
			out = append(out, Capital(word))
		}
	}
	if len(out) == 0 {
		return name
	}
	if len(out) > 1 && out[0] == "GPT" {
		out = append([]string{"GPT-" + out[1]}, out[2:]...)
	}
	return strings.Join(out, " ")
}

// Capital returns a word, which must not be empty, with a capital letter first.
func Capital(word string) string {
	r := []rune(word)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}
