package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/transcript"
)

// outputLines is how much of a tool's output is shown without --full.
const outputLines = 12

// writeHead prints the trial, its agent and its outcome.
func (h *history) writeHead(w io.Writer) {
	t := h.Trial
	_, _ = fmt.Fprintf(w, "trial    %s\nrun      %s\neval     %s, category %s\nagent    %s, repeat %d\n", t.ID, h.Run, t.Eval, t.Category, t.Agent, t.Repeat)
	if t.Template != "" && t.Template != eval.NoTemplate {
		_, _ = fmt.Fprintf(w, "project  %s\n", t.Template)
	}
	_, _ = fmt.Fprintf(w, "prompt   %s\n", t.PromptID)
	switch {
	case h.Result != nil:
		_, _ = fmt.Fprintf(w, "outcome  %s\n", outcomeText(*h.Result))
		for _, d := range h.Result.Details {
			_, _ = fmt.Fprintf(w, "detail   %s, rule %q%s\n", d.Name, d.Rule, detailQuote(d))
		}
	case h.Excluded != "":
		_, _ = fmt.Fprintf(w, "outcome  none: excluded, %s\n", h.Excluded)
	default:
		_, _ = fmt.Fprintln(w, "outcome  none yet")
	}
}

// writeCost prints time, tokens and cost of the answer.
func writeCost(w io.Writer, a *journal.Answer) {
	line := fmt.Sprintf("took     %s", time.Duration(a.WallMS)*time.Millisecond)
	if a.InTokens+a.OutTokens > 0 {
		line += fmt.Sprintf(", %d tokens read, %d written", a.InTokens, a.OutTokens)
	}
	if a.CostUSD != nil {
		line += fmt.Sprintf(", %.4f USD", *a.CostUSD)
	}
	if a.Model != "" {
		line += ", model " + a.Model
	}
	_, _ = fmt.Fprintln(w, line)
}

// writeBuild prints the result of the eval's command.
func writeBuild(w io.Writer, b *journal.Build) {
	if b == nil {
		return
	}
	how := fmt.Sprintf("exit %d", b.Exit)
	if b.Ended != "" {
		how = "ended: " + b.Ended
	}
	_, _ = fmt.Fprintf(w, "build    %s after %s\n", how, time.Duration(b.WallMS)*time.Millisecond)
}

// writeConditions prints the conditions of the agent.
func (h *history) writeConditions(w io.Writer) {
	if h.Answer == nil {
		return
	}
	for _, m := range h.Manifest {
		if m.ID() != h.Answer.Manifest {
			continue
		}
		words := []string{m.Kind}
		for _, part := range []struct{ name, value string }{
			{"version", m.Version}, {"model", m.Model}, {"web search", m.Web}, {"network", m.Network}, {"sandbox", m.Sandbox}, {"setup", m.Purity}, {"paid by", m.Auth},
		} {
			if part.value != "" {
				words = append(words, part.name+" "+part.value)
			}
		}
		_, _ = fmt.Fprintf(w, "asked as %s\n", strings.Join(words, ", "))
	}
}

// writeAttempts lists the failed attempts.
func (h *history) writeAttempts(w io.Writer) {
	for _, r := range h.Attempts {
		if r.Kind != journal.KindAttempt {
			continue
		}
		_, _ = fmt.Fprintf(w, "attempt  %d failed at %s: %s\n", r.Attempt, stamp(r.At), r.Reason)
	}
}

// writeNotes prints why the answer stopped and what the transcript lacks.
func (h *history) writeNotes(w io.Writer) {
	if h.Answer == nil {
		return
	}
	if stop := h.Answer.Transcript.Stop; stop != transcript.StopEnd {
		_, _ = fmt.Fprintf(w, "stopped  %s\n", stopText(stop))
	}
	for _, note := range h.Answer.Notes {
		_, _ = fmt.Fprintf(w, "note     %s\n", note)
	}
}

// stopText says why an answer is not an ordinary one.
func stopText(stop transcript.Stop) string {
	switch stop {
	case transcript.StopLength:
		return "length: the length limit truncated the answer"
	case transcript.StopRefusal:
		return "refusal: the provider reported a refusal"
	case transcript.StopTurns:
		return "turns: turn limit reached"
	case transcript.StopCost:
		return "cost: cost limit of the trial reached"
	case transcript.StopTime:
		return "time: time limit of the trial reached"
	case transcript.StopIncomplete:
		return "incomplete: the agent's program exited before its result"
	default:
		return string(stop)
	}
}

// writeConversation prints the stream of the agent. It reports false without a
// stream: then only the answer exists.
func (h *history) writeConversation(w io.Writer, raw []byte, full bool) bool {
	format := h.agent.Kind
	if h.agent.CLI != nil && h.agent.CLI.Format != "" && h.agent.Kind == eval.KindCommand {
		format = h.agent.CLI.Format
	}
	if len(raw) == 0 || !h.agent.IsProgram() {
		return false
	}
	events := 0
	var last stream.Kind
	parser, err := cliagent.NewParser(format, func(e stream.Event) {
		events++
		if e.Kind == stream.KindText && last == stream.KindText && e.Agent == "" { // one line after another
			_, _ = io.WriteString(w, indent(e.Text, true))
		} else {
			writeEvent(w, e, full)
		}
		last = e.Kind
	})
	if err != nil {
		return false
	}
	_, _ = fmt.Fprintln(w)
	err = stream.Lines(bytes.NewReader(raw), stream.MaxLine, func(off int64, line []byte, cut bool) {
		if cut {
			_, _ = fmt.Fprintf(w, "         (a line of more than %d MB was skipped)\n", stream.MaxLine>>20)
			return
		}
		parser.Line(0, off, line)
	})
	if err == nil {
		parser.End(0)
	}
	return events > 0
}

func writeEvent(w io.Writer, e stream.Event, full bool) {
	at := fmt.Sprintf("%7.1fs", e.At.Seconds())
	if e.At == 0 {
		at = strings.Repeat(" ", len(at))
	}
	who := ""
	if e.Agent != "" {
		who = " (sub-agent)"
	}
	switch e.Kind {
	case stream.KindUsage, stream.KindFinal, stream.KindPrompt:
		return
	case stream.KindToolCall, stream.KindFileChange, stream.KindWeb:
		_, _ = fmt.Fprintf(w, "%s  %s%s  %s\n", at, toolName(e.Tool), who, toolWhat(e.Tool))
	case stream.KindToolResult:
		writeToolResult(w, e.Tool, full)
	case stream.KindText, stream.KindReasoning, stream.KindRetry, stream.KindError, stream.KindSystem:
		_, _ = fmt.Fprintf(w, "%s  %s%s\n%s", at, e.Kind, who, indent(e.Text, full || e.Kind == stream.KindText))
	}
}

func toolName(t *stream.Tool) string {
	if t == nil {
		return "tool"
	}
	if t.Name == stream.ToolOther || t.Name == stream.ToolMCP {
		return t.Name + " " + t.Native
	}
	return t.Name
}

func toolWhat(t *stream.Tool) string {
	switch {
	case t == nil:
		return ""
	case t.Command != "":
		return t.Command
	case t.Path != "":
		return t.Path
	case len(t.Queries) > 0:
		return strings.Join(t.Queries, "; ")
	case len(t.Sources) > 0:
		return strings.Join(t.Sources, " ")
	default:
		return string(t.Args)
	}
}

func writeToolResult(w io.Writer, t *stream.Tool, full bool) {
	if t == nil {
		return
	}
	verdict := ""
	switch {
	case t.Declined:
		verdict = "declined, did not run"
	case t.Exit != nil:
		verdict = fmt.Sprintf("exit %d", *t.Exit)
	case t.OK != nil && !*t.OK:
		verdict = "failed"
	}
	if verdict != "" {
		_, _ = fmt.Fprintf(w, "          %s\n", verdict)
	}
	_, _ = io.WriteString(w, indent(t.Output, full))
}

// indent indents a text and truncates a long one, unless full is set.
func indent(text string, full bool) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	lines := strings.Split(text, "\n")
	left := 0
	if !full && len(lines) > outputLines {
		left = len(lines) - outputLines
		lines = lines[:outputLines]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("          | " + strings.TrimRight(printable(line), " ") + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "          | … %d more lines (--full)\n", left)
	}
	return b.String()
}

// printable removes the characters that control a terminal, change the order of a text or
// cannot be seen. Tabs stay.
func printable(s string) string { return strings.ReplaceAll(printableText(s), "\n", "") }

// writeAnswer prints the answer: the final message, the commands and the changes
// in the work folder.
func writeAnswer(w io.Writer, a *journal.Answer, conversation bool) {
	t := a.Transcript
	if t.FinalText != "" {
		_, _ = fmt.Fprintf(w, "\n--- final message\n%s\n", strings.TrimRight(printableText(t.FinalText), "\n"))
	}
	if !conversation {
		for _, c := range t.Commands {
			exit := "unknown"
			if c.Exit != nil {
				exit = strconv.Itoa(*c.Exit)
			}
			_, _ = fmt.Fprintf(w, "\n--- command, exit %s\n%s\n", exit, printableText(c.Cmd))
		}
	}
	if len(t.Sources) > 0 {
		_, _ = fmt.Fprintln(w, "\n--- web pages")
	}
	for _, s := range t.Sources {
		how := "found "
		if s.Opened {
			how = "opened"
		}
		_, _ = fmt.Fprintf(w, "%s %s\n", how, printable(s.URL))
	}
	for _, f := range t.Diff {
		_, _ = fmt.Fprintf(w, "\n--- %s\n", printable(f.Path))
		for _, dep := range f.AddedDeps {
			_, _ = fmt.Fprintf(w, "+ dependency %s\n", printable(dep))
		}
		for _, line := range f.Added {
			_, _ = fmt.Fprintf(w, "+ %s\n", printable(line))
		}
	}
	if l := t.Listing; l != nil {
		_, _ = fmt.Fprintf(w, "\n--- imported, as listed by study %s, which published no text\n", printable(l.Source))
		for _, name := range l.Imports {
			_, _ = fmt.Fprintln(w, printable(name))
		}
		if len(l.Imports) == 0 {
			_, _ = fmt.Fprintln(w, "(no library)")
		}
		if l.Record != nil {
			_, _ = fmt.Fprintf(w, "record: %s\n", printable(l.Record.URL))
		}
	}
	if a.Build != nil && a.Build.Output != "" {
		_, _ = fmt.Fprintf(w, "\n--- end of the build's output\n%s\n", strings.TrimRight(printableText(a.Build.Output), "\n"))
	}
	if len(t.Structured) > 0 {
		_, _ = fmt.Fprintf(w, "\n--- structured answer\n%s\n", t.Structured)
	}
}

// printableText is printable for more than one line.
func printableText(s string) string { return string(inert.Text([]byte(s))) }
