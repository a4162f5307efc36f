package cliagent

import (
	"fmt"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

// FormatText is the format of a program that prints its answer on standard output. The
// other formats are named by the kind of agent that writes them.
const FormatText = "text"

// A kind is the code of an agent kind that is a program.
type kind struct {
	setup  func(eval.Agent) (*setup, error)
	decode stream.Decoder
}

// kinds returns the code of every kind of the classes program and command. Names, fields
// and key variables are in eval.Kinds.
func kinds() map[string]kind {
	return map[string]kind{
		eval.KindClaudeCode: {claudeCode, stream.Claude},
		eval.KindCodex:      {codex, stream.Codex},
		eval.KindGeminiCLI:  {geminiCLI, stream.Gemini},
		eval.KindOpenCode:   {openCode, stream.OpenCode},
		eval.KindCopilot:    {copilot, stream.Copilot},
		eval.KindCursor:     {cursor, stream.Cursor},
		eval.KindGoose:      {goose, stream.Goose},
		eval.KindAider:      {aider, stream.Aider},
		eval.KindCommand:    {command, stream.Text},
	}
}

// NewParser returns a parser of a format: FormatText, or the kind of a program. See
// stream.Decoder for emit.
func NewParser(format string, emit func(stream.Event)) (stream.Parser, error) {
	if format == FormatText {
		return stream.Text(emit), nil
	}
	k, ok := kinds()[format]
	if !ok {
		return nil, fmt.Errorf("the stream format %q is unknown: want %q or the kind of an agent CLI", format, FormatText)
	}
	return k.decode(emit), nil
}
