package field

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// Several is the agent of a commit with the marks of more than one.
const Several = "several"

// A mark is how the commits of an agent are known. Addresses match authors, committers and
// Co-authored-by trailers.
type mark struct {
	agent   string
	address *lazyregexp.Regexp // of an e-mail, in small letters
	name    *lazyregexp.Regexp // of an author or committer; nil if absent
	source  string             // where the mark is described
}

// marks is the table of agents. Marks that an agent shares with people, such as branch
// names, are not in it. Addresses like 175728472+Copilot are not either: those commits are
// suggestions of a review that a person accepted.
func marks() []mark {
	noreply := func(login string) string {
		return `^(\d+\+)?` + regexp.QuoteMeta(login) + `@users\.noreply\.github\.com$`
	}
	return []mark{
		{"Claude Code", lazyregexp.MustCompile(`^noreply@anthropic\.com$|` + noreply("claude[bot]")), nil,
			"https://code.claude.com/docs/en/settings: attribution, default trailer Co-Authored-By: Claude <noreply@anthropic.com>"},
		{"Codex", lazyregexp.MustCompile(`^(noreply|codex)@openai\.com$|` + noreply("chatgpt-codex-connector[bot]")), nil,
			"https://developers.openai.com/codex/config-reference: commit_attribution, default Codex <noreply@openai.com>"},
		{"Copilot", lazyregexp.MustCompile(`^(198982749|223556219)\+copilot@users\.noreply\.github\.com$|` + noreply("copilot-swe-agent[bot]")), lazyregexp.MustCompile(`^copilot-swe-agent(\[bot\])?$`),
			"https://docs.github.com/en/copilot/concepts/agents/coding-agent: commits are authored by Copilot; the second number is the trailer of its CLI"},
		{"Cursor", lazyregexp.MustCompile(`^cursoragent@cursor\.com$|` + noreply("cursor[bot]")), nil,
			"https://cursor.com/docs: attribution, trailer Co-authored-by: Cursor <cursoragent@cursor.com>"},
		{"Devin", lazyregexp.MustCompile(noreply("devin-ai-integration[bot]")), nil,
			"https://docs.devin.ai/integrations/gh: commits of the app devin-ai-integration"},
		{"Jules", lazyregexp.MustCompile(noreply("google-labs-jules[bot]")), nil,
			"https://jules.google/docs: commits of the app google-labs-jules"},
		{"Aider", lazyregexp.MustCompile(`^(aider|noreply)@aider\.(chat|dev)$`), lazyregexp.MustCompile(` \(aider\)$`),
			"https://aider.chat/docs/git.html: (aider) behind the author's or committer's name, and the trailer Co-authored-by: aider (MODEL) <aider@aider.chat>"},
		{"Amp", lazyregexp.MustCompile(`^amp@ampcode\.com$`), nil,
			"https://ampcode.com/manual: amp.git.commit.coauthor.enabled, trailer Co-authored-by: Amp <amp@ampcode.com>"},
	}
}

// Agents returns the names of the agents that a scan tells apart.
func Agents() (names []string) {
	for _, m := range marks() {
		names = append(names, m.agent)
	}
	return names
}

var coAuthor = lazyregexp.MustCompile(`(?i)^co-authored-by[ \t]*:[^<>]*<([^<>\s]{1,200})>$`)

// agentOf returns the agent of a commit: empty for people and other programs. names and
// addresses are those of the author and the committer.
func agentOf(table []mark, names, addresses []string, message string) string {
	for _, line := range trailers(message) {
		if m := coAuthor.FindStringSubmatch(line); m != nil {
			addresses = append(addresses, m[1])
		}
	}
	agent := ""
	for _, m := range table {
		match := slices.ContainsFunc(addresses, func(a string) bool { return m.address.MatchString(strings.ToLower(a)) }) ||
			m.name != nil && slices.ContainsFunc(names, m.name.MatchString)
		if match && agent != "" {
			return Several
		}
		if match {
			agent = m.agent
		}
	}
	return agent
}

// squashed is the line that GitHub writes above the trailers of a squashed pull request.
const squashed = "---------"

var (
	trailerLine = lazyregexp.MustCompile(`^[A-Za-z0-9-]+[ \t]*:`)
	gitsOwn     = lazyregexp.MustCompile(`^(?:Signed-off-by: |\(cherry picked from commit )`)
)

// trailers returns the lines of the last paragraph if git takes them for trailers (see git
// interpret-trailers), and of all such paragraphs below the line of a squash. A mark
// that is quoted elsewhere does not count.
func trailers(message string) (out []string) {
	var paragraphs [][]string
	last, open := 0, false
	for line := range strings.Lines(message) {
		switch line = strings.TrimRight(line, " \t\r\n"); {
		case line == squashed:
			last, open = len(paragraphs), false
		case line == "":
			open = false
		case open:
			paragraphs[len(paragraphs)-1] = append(paragraphs[len(paragraphs)-1], line)
		default:
			paragraphs, open = append(paragraphs, []string{line}), true
		}
	}
	if last == 0 {
		last = len(paragraphs) - 1
	}
	for i, p := range paragraphs {
		if i < max(last, 1) { // the first one is the subject
			continue
		}
		own, good, bad := false, 0, 0
		for i, line := range p {
			switch {
			case gitsOwn.MatchString(line):
				own, good = true, good+1
			case trailerLine.MatchString(line):
				good++
			case i == 0 || line[0] != ' ' && line[0] != '\t': // else it continues the line before
				bad++
			}
		}
		if good > 0 && bad == 0 || own && good*3 >= bad {
			out = append(out, p...)
		}
	}
	return out
}
