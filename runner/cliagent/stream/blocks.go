package stream

import (
	"encoding/json"
	"strings"
)

// A claudeBlock is one block of a message. Cursor's messages and the results of
// most tools have this form too.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocksOf are the blocks of a message, whose content may also be a string.
func blocksOf(content json.RawMessage) []claudeBlock {
	var blocks []claudeBlock
	if len(content) == 0 {
		return nil
	}
	if content[0] == '"' {
		return []claudeBlock{{Type: "text", Text: textOf(content)}}
	}
	// One block of an unexpected form must not cost the others.
	var raw []json.RawMessage
	if json.Unmarshal(content, &raw) != nil {
		return nil
	}
	for _, r := range raw {
		var b claudeBlock
		if object(r, &b) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// textOf is the text of a content: a string, or the text blocks of a list.
func textOf(content json.RawMessage) string {
	var s string
	if len(content) == 0 || json.Unmarshal(content, &s) == nil {
		return s
	}
	var texts []string
	if content[0] == '[' {
		for _, b := range blocksOf(content) {
			if b.Text != "" {
				texts = append(texts, b.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}
