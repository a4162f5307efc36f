package sessions

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
)

// A head has the members that tell the formats of a kind apart.
type head struct {
	Type       string          `json:"type"`
	Subtype    string          `json:"subtype"`
	Role       string          `json:"role"`
	SessionID  string          `json:"sessionId"`
	SessionID2 string          `json:"session_id"`
	UUID       string          `json:"uuid"`  // of each line of Claude Code
	Tools      json.RawMessage `json:"tools"` // of the first
	SideChain  bool            `json:"isSidechain"`
	Thread     string          `json:"thread_id"`
	ID         string          `json:"id"`
	Timestamp  json.RawMessage `json:"timestamp"`
	Kind       string          `json:"kind"`
	Schema     string          `json:"schema_version"`
	Messages   json.RawMessage `json:"messages"`
	Set        json.RawMessage `json:"$set"`
	Response   json.RawMessage `json:"response"`
	Payload    struct {
		Source json.RawMessage `json:"source"`
	} `json:"payload"`
	Agent struct {
		Name string `json:"name"`
	} `json:"agent"`
	Content json.RawMessage `json:"content"`
	Message json.RawMessage `json:"message"`
}

// A format is the family of formats of one program.
type format struct {
	agent string
	// document is set if a file is one JSON value.
	document bool
	// choose returns the decoder of a file by an object of its beginning, nil if the
	// object does not decide.
	choose  func(*head) (decode stream.Decoder, prompt promptOf)
	example string            // a line that choose decides by, and where the program leaves it
	names   map[string]string // files that are known to be something else, and what
}

// promptOf returns the user's prompt of a line of a stream, whose decoder ignores it.
type promptOf func(*head) string

// Kinds returns the kinds of session folders.
func Kinds() []string { return slices.Sorted(maps.Keys(formats())) }

func formats() map[string]format {
	return map[string]format{
		"claude-code": {agent: "claude-code", example: `a line such as {"type":"user","sessionId":"…","message":{…}}, as in ~/.claude/projects/*/*.jsonl`, choose: chooseClaude, names: map[string]string{
			"history.jsonl": "list of prompts",
		}},
		"codex": {agent: "codex", example: `a first line such as {"type":"session_meta","payload":{…}}, as in ~/.codex/sessions/**/rollout-*.jsonl`, choose: chooseCodex, names: map[string]string{
			"history.jsonl": "list of prompts", "session_index.jsonl": "list of sessions",
		}},
		"gemini": {agent: "gemini-cli", example: `a first line such as {"sessionId":"…","projectHash":"…"}, as in ~/.gemini/tmp/*/chats/session-*`, choose: chooseGemini, names: map[string]string{
			"logs.json": "list of prompts without answers",
		}},
		"cursor": {agent: "cursor", example: `a line such as {"role":"user","message":{…}}, as in ~/.cursor/projects/*/agent-transcripts/*/*.jsonl`, choose: chooseCursor, names: map[string]string{
			"store.db": "database of Cursor; its transcripts are in ~/.cursor/projects/*/agent-transcripts",
		}},
		"atif": {agent: "", document: true, example: `a trajectory with "schema_version":"ATIF-v1.…"`, choose: chooseATIF},
	}
}

// unlikely returns why a file of this name is no session; empty if it may be one.
func (f *format) unlikely(name string) string {
	if what, ok := f.names[path.Base(name)]; ok {
		return what
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".jsonl", ".json", ".ndjson":
		return ""
	case "":
		return "file name without .jsonl or .json"
	default:
		return "file name ends with " + ext + ", not .jsonl or .json"
	}
}

// byClaude tells a line of Claude Code from one of Cursor, whose streams are alike.
func (h *head) byClaude() bool { return h.UUID != "" || len(h.Tools) > 0 }

func chooseClaude(h *head) (stream.Decoder, promptOf) {
	switch {
	case h.SessionID2 != "" && h.Type != "" && h.byClaude():
		return stream.Claude, promptOfMessage
	case h.SessionID != "" && slices.Contains([]string{"user", "assistant", "system"}, h.Type):
		return stream.ClaudeSession, nil
	}
	return nil, nil
}

func chooseCodex(h *head) (stream.Decoder, promptOf) {
	switch {
	case h.Type == "thread.started", h.Type == "turn.started", strings.HasPrefix(h.Type, "item."):
		return stream.Codex, nil
	case h.Type == "session_meta", h.Type == "" && h.ID != "" && len(h.Timestamp) > 0 && h.Role == "":
		return stream.CodexSession, nil
	}
	return nil, nil
}

func chooseGemini(h *head) (stream.Decoder, promptOf) {
	switch {
	case h.Type == "init" && h.SessionID2 != "" && !h.byClaude():
		return stream.Gemini, promptOfGemini
	case h.SessionID != "" && h.Type == "":
		return stream.GeminiSession, nil
	}
	return nil, nil
}

func chooseCursor(h *head) (stream.Decoder, promptOf) {
	switch {
	case h.SessionID2 != "" && slices.Contains([]string{"system", "user", "assistant", "thinking", "tool_call", "result"}, h.Type) && !h.byClaude():
		return stream.Cursor, promptOfMessage
	case (h.Role == "user" || h.Role == "assistant") && len(h.Message) > 0:
		return stream.CursorSession, nil
	}
	return nil, nil
}

func chooseATIF(h *head) (stream.Decoder, promptOf) {
	if strings.HasPrefix(h.Schema, "ATIF-v1") {
		return stream.ATIF, nil
	}
	return nil, nil
}

// isSideChain reports whether the head of a file says that a sub-agent wrote it.
func (h *head) isSideChain() bool {
	var source struct {
		SubAgent json.RawMessage `json:"subagent"`
	}
	return h.Kind == "subagent" || h.Type == "session_meta" && json.Unmarshal(h.Payload.Source, &source) == nil && len(source.SubAgent) > 0
}

func promptOfMessage(h *head) string {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if h.Type != "user" || json.Unmarshal(h.Message, &m) != nil {
		return ""
	}
	return textOf(m.Content)
}

func promptOfGemini(h *head) string {
	if h.Type != "message" || h.Role != "user" {
		return ""
	}
	return textOf(h.Content)
}

// textOf is the text of a content: a string, or blocks of text and nothing else.
func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
