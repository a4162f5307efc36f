package field

import (
	"regexp"
	"slices"
	"strings"
)

// Several is the agent of a commit with the marks of more than one.
const Several = "several"

// A mark is how the commits of an agent are known. Addresses match authors, committers and
// Co-authored-by trailers.
type mark struct {
	agent   string
	address *regexp.Regexp // of an e-mail, in small letters
	name    *regexp.Regexp // of an author or committer; nil for none
	source  string         // where the mark is described
}

// marks is the table of agents. Marks that an agent shares with people, such as branch
// names, are not in it. Addresses like 175728472+Copilot are not either: those commits are
// suggestions of a review that a person accepted.
func marks() []mark {
	noreply := func(login string) string {
		return `^(\d+\+)?` + regexp.QuoteMeta(login) + `@users\.noreply\.github\.com$`
	}
	return []mark{
		{"Claude Code", regexp.MustCompile(`^noreply@anthropic\.com$|` + noreply("claude[bot]")), nil,
			"https://code.claude.com/docs/en/settings: attribution, default trailer Co-Authored-By: Claude <noreply@anthropic.com>"},
		{"Codex", regexp.MustCompile(`^(noreply|codex)@openai\.com$|` + noreply("chatgpt-codex-connector[bot]")), nil,
			"https://developers.openai.com/codex/config-reference: commit_attribution, default Codex <noreply@openai.com>"},
		{"Copilot", regexp.MustCompile(`^(198982749|223556219)\+copilot@users\.noreply\.github\.com$|` + noreply("copilot-swe-agent[bot]")), regexp.MustCompile(`^copilot-swe-agent(\[bot\])?$`),
			"https://docs.github.com/en/copilot/concepts/agents/coding-agent: commits are authored by Copilot; the second number is the trailer of its CLI"},
		{"Cursor", regexp.MustCompile(`^cursoragent@cursor\.com$|` + noreply("cursor[bot]")), nil,
			"https://cursor.com/docs: attribution, trailer Co-authored-by: Cursor <cursoragent@cursor.com>"},
		{"Devin", regexp.MustCompile(noreply("devin-ai-integration[bot]")), nil,
			"https://docs.devin.ai/integrations/gh: commits of the app devin-ai-integration"},
		{"Jules", regexp.MustCompile(noreply("google-labs-jules[bot]")), nil,
			"https://jules.google/docs: commits of the app google-labs-jules"},
		{"Aider", regexp.MustCompile(`^(aider|noreply)@aider\.(chat|dev)$`), regexp.MustCompile(` \(aider\)$`),
			"https://aider.chat/docs/git.html: (aider) behind the author's or committer's name, and the trailer Co-authored-by: aider (MODEL) <aider@aider.chat>"},
		{"Amp", regexp.MustCompile(`^amp@ampcode\.com$`), nil,
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

var trailer = regexp.MustCompile(`(?im)^co-authored-by:[^<>\n]*<([^<>\s]{1,200})>[ \t\r]*$`)

// agentOf returns the agent of a commit: empty for people and other programs.
func agentOf(table []mark, c commit) string {
	addresses := []string{c.authorMail, c.committerMail}
	for _, m := range trailer.FindAllStringSubmatch(c.message, 100) {
		addresses = append(addresses, m[1])
	}
	agent := ""
	for _, m := range table {
		match := slices.ContainsFunc(addresses, func(a string) bool { return m.address.MatchString(strings.ToLower(a)) }) ||
			m.name != nil && (m.name.MatchString(c.author) || m.name.MatchString(c.committer))
		if match && agent != "" {
			return Several
		}
		if match {
			agent = m.agent
		}
	}
	return agent
}

var (
	revertedHash = regexp.MustCompile(`(?im)^\s*this reverts commit ([0-9a-f]{7,64})\b`)
	revertedPull = regexp.MustCompile(`(?im)^\s*reverts [\w.-]{1,100}/[\w.-]{1,100}#(\d{1,9})\b`)
	pullNumber   = regexp.MustCompile(`\(#(\d{1,9})\)\s*$`)
)

// cancelled returns the commits that a revert takes back, and the reverts themselves. The
// commits are the newest first, so that a revert that was reverted has no effect.
func cancelled(commits []commit) map[string]bool {
	pulls := map[string][]string{} // of squashed pull requests, by number
	for _, c := range commits {
		subject, _, _ := strings.Cut(c.message, "\n")
		if m := pullNumber.FindStringSubmatch(subject); m != nil {
			pulls[m[1]] = append(pulls[m[1]], c.hash)
		}
	}
	hashes := make([]string, len(commits))
	for i, c := range commits {
		hashes[i] = c.hash
	}
	slices.Sort(hashes)
	out := map[string]bool{}
	for _, c := range commits {
		targets := revertsOf(c, hashes, pulls)
		if len(targets) == 0 {
			continue
		}
		if !out[c.hash] {
			for _, t := range targets {
				out[t] = true
			}
		}
		out[c.hash] = true
	}
	return out
}

// revertsOf returns the commits that a commit says it reverts. hashes are sorted.
func revertsOf(c commit, hashes []string, pulls map[string][]string) (targets []string) {
	for _, m := range revertedHash.FindAllStringSubmatch(c.message, 100) {
		targets = append(targets, m[1]) // also of a commit that is not here: it is a revert
		if i, _ := slices.BinarySearch(hashes, m[1]); i < len(hashes) && strings.HasPrefix(hashes[i], m[1]) {
			targets = append(targets, hashes[i])
		}
	}
	for _, m := range revertedPull.FindAllStringSubmatch(c.message, 100) {
		targets = append(append(targets, "#"+m[1]), pulls[m[1]]...)
	}
	return slices.DeleteFunc(targets, func(t string) bool { return t == c.hash })
}
