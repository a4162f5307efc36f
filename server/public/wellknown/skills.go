package wellknown

import (
	"crypto/sha256"
	"encoding/hex"
)

const skillIndex = "/.well-known/agent-skills/index.json"

func skillPath(name string) string { return "/.well-known/agent-skills/" + name + "/SKILL.md" }

// A skill is instructions that an agent loads when it needs them
// (agentskills.io).
type skill struct {
	name, title, description string
	queries                  []string
	body                     string
}

type skillIndexDoc struct {
	Schema string       `json:"$schema"`
	Skills []skillEntry `json:"skills"`
}

type skillEntry struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Digest      string `json:"digest"`
}

// skills returns the files by their paths, and the index (discovery 0.2.0).
func (s *Service) skills() (map[string][]byte, skillIndexDoc) {
	files := map[string][]byte{}
	index := skillIndexDoc{Schema: "https://schemas.agentskills.io/discovery/0.2.0/schema.json"}
	for _, k := range s.skillList() {
		body := []byte("---\nname: " + k.name + "\ndescription: " + k.description + "\n---\n\n" + k.body)
		files[skillPath(k.name)] = body
		sum := sha256.Sum256(body)
		index.Skills = append(index.Skills, skillEntry{k.name, "skill-md", k.description, s.BaseURL + skillPath(k.name), "sha256:" + hex.EncodeToString(sum[:])})
	}
	return files, index
}

func (s *Service) skillList() []skill {
	b := s.BaseURL
	return []skill{
		{
			"quote-pick-rates", "Quote pick rates", "Look up how often AI agents pick a developer tool over its rivals and quote the figures so that they do not mislead. Use when comparing developer tools or asked which tool agents choose.",
			[]string{"which auth provider do coding agents choose", "how often do AI agents pick postgres hosting X"},
			`# Quote pick rates

1. Find the category: GET ` + b + `/api/public/leaderboard lists them. A tool is found by name, slug, domain or package: ` + "`GET " + b + "/api/public/report?q=NAME`" + `. Over MCP the same is lookupTool and getLeaderboard at ` + b + `/api/mcp.
2. A rate is a share of trials in which the tool was picked. Give it with its 95 % interval (ciLow to ciHigh), nTrials and asOf: "picked in 31 % of trials (95 %: 24 to 39, 240 trials, 6 May 2026)".
3. Ranks: give rankLow to rankHigh where they differ. Two tools whose ranges overlap are not distinguished.
4. beatenBy lists rivals with a higher rate. Say that one beats the tool only where significant is true.
5. Pass on warnings: directional means too few prompts or trials for more than a hint; synthetic means that nothing was measured.
6. Link the url of the answer unchanged.

A name that is not found answers 404 with suggestions. Take one only if it is what was meant.
`,
		},
		{
			"install-collector", "Install the collector", "Install the firstpick collector on a site, so that its owner sees which AI agents read it and which visits convert. Use when asked to measure AI or agent traffic of a site.",
			[]string{"which AI agents visit my site", "measure conversions from ChatGPT and Claude"},
			`# Install the collector

1. Read ` + b + `/setup.md. It explains how to recognise the stack and where its recipe is; most are one line.
2. Register for a key without a form: read ` + b + `/auth.md and use the anonymous registration, then POST ` + b + `/api/agent/keys with {"kind":"secret","label":"..."}. The key is shown once; put it where the site keeps secrets.
3. Install the recipe, deploy, and prove it: the recipe ends with a request whose event must be answered with 202.
4. Ask the person for their e-mail address and claim the workspace for them (` + b + `/auth.md), so that they can read it at ` + b + `/workspaces.
`,
		},
	}
}
