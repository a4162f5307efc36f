package stream

import (
	"strings"
	"time"
)

// ClaudeSession is the Decoder of ~/.claude/projects/*/*.jsonl.
func ClaudeSession(emit func(Event)) Parser {
	s := newSession(emit)
	return &claudeSession{session: s, claude: &claude{recorder: s.recorder}}
}

// claudeSession reads the messages as in a stream. Side chains are the messages of
// sub-agents: their commands and files count, their texts do not.
type claudeSession struct {
	session
	claude *claude
}

type claudeSessionLine struct {
	claudeLine
	ID        string `json:"sessionId"`
	Release   string `json:"version"`
	SideChain bool   `json:"isSidechain"`
	Meta      bool   `json:"isMeta"`
	Summary   bool   `json:"isCompactSummary"`
}

func (c *claudeSession) Line(at time.Duration, off int64, line []byte) {
	var l claudeSessionLine
	if !c.object(at, off, line, &l) {
		return
	}
	c.clock(timeOf(l.Timestamp))
	if l.ID != "" {
		c.out.Session = l.ID
	}
	if l.Release != "" {
		c.out.Version = l.Release
	}
	if l.SideChain && l.Parent == "" {
		l.Parent = "side chain"
	}
	switch l.Type {
	case "assistant":
		c.out.Stop = ""
		c.claude.assistant(&l.claudeLine)
	case "user":
		if !l.SideChain && !l.Meta && !l.Summary {
			c.typed(&l)
		}
		c.claude.user(&l.claudeLine)
	}
}

func (c *claudeSession) typed(l *claudeSessionLine) {
	var texts []string
	for _, b := range blocksOf(l.Message.Content) {
		if b.Type == "tool_result" {
			return
		}
		switch {
		case b.Type != "text":
		case strings.HasPrefix(b.Text, "[Request interrupted by user"):
			c.interrupted()
		case typed(b.Text) != "":
			texts = append(texts, typed(b.Text))
		}
	}
	c.prompt(strings.Join(texts, "\n\n"))
}
