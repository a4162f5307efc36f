package cliagent

import (
	"encoding/json"
	"fmt"

	"github.com/firstpick/firstpick/runner/cliagent/process"
)

// raw returns the stream for storage: redacted standard output and, for JSON lines, a
// line each for cut output, standard error and the report. Parsers ignore these lines.
func (p *program) raw(exit process.Exit, report []byte) []byte {
	out := p.redact.Bytes(exit.Raw)
	if p.format == FormatText {
		return out
	}
	cut := ""
	if exit.Cut > 0 {
		cut = fmt.Sprintf("%d of %d bytes are missing from byte %d on", exit.Cut, exit.RawBytes, exit.CutAt)
	}
	for _, part := range []struct{ kind, text string }{
		{"firstpick.cut", cut}, {"firstpick.stderr", p.redact.Text(string(exit.Stderr))}, {"firstpick.report", string(report)},
	} {
		if part.text == "" {
			continue
		}
		line, err := json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{part.kind, part.text})
		if err != nil {
			panic(err) // texts always encode
		}
		if len(out) > 0 && out[len(out)-1] != '\n' {
			out = append(out, '\n')
		}
		out = append(append(out, line...), '\n')
	}
	return out
}
