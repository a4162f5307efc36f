package stream

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Gemini is the Decoder of its stream.
func Gemini(emit func(Event)) Parser { return &gemini{recorder: newRecorder(emit)} }

// gemini reads `gemini -o stream-json`. Only a result event is an answer: the
// program has ended with status 0 and nothing to show.
type gemini struct {
	*recorder
	result *geminiLine
	turns  bool   // the limit of turns was reached
	notice *Retry // from standard error; its wait may be on the next line
}

type geminiLine struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	SessionID string          `json:"session_id"`
	Model     string          `json:"model"`
	Role      string          `json:"role"`
	Content   string          `json:"content"`
	ToolName  string          `json:"tool_name"`
	ToolID    string          `json:"tool_id"`
	Args      json.RawMessage `json:"parameters"`
	Status    string          `json:"status"`
	Output    json.RawMessage `json:"output"`
	Severity  string          `json:"severity"`
	Message   string          `json:"message"`
	Error     struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats *geminiStats `json:"stats"`
}

type geminiStats struct {
	Total  count                  `json:"total_tokens"`
	Input  count                  `json:"input_tokens"`
	Output count                  `json:"output_tokens"`
	Cached count                  `json:"cached"`
	Models map[string]geminiStats `json:"models"`
}

func (g *gemini) Line(at time.Duration, off int64, line []byte) {
	var l geminiLine
	if !g.object(at, off, line, &l) {
		return
	}
	g.clock(timeOf(l.Timestamp))
	switch l.Type {
	case "init":
		g.out.Session, g.out.Model = l.SessionID, l.Model
		g.system("Gemini CLI " + l.Model)
	case "message":
		if l.Role == "assistant" {
			g.addText(l.Content, "deltas", "")
		}
	case "tool_use":
		g.call(Tool{Native: l.ToolName, ID: l.ToolID, Args: l.Args}, "")
	case "tool_result":
		g.toolResult(&l)
	case "error":
		g.turns = g.turns || strings.Contains(strings.ToLower(l.Message), "maximum session turns")
		if l.Severity == "warning" {
			g.system(l.Message)
		} else {
			g.wrong(statusIn(l.Message), l.Message)
		}
	case "result":
		g.ended, g.result = true, &l
		g.account(l.Stats)
	}
}

var geminiExit = lazyregexp.MustCompile(`(?i)exit(?:ed with)? code: (-?\d{1,9})\s*$`)

func (g *gemini) toolResult(l *geminiLine) {
	ok := l.Status == "success"
	t := Tool{ID: l.ToolID, OK: &ok, Output: textOf(l.Output)}
	if t.Output == "" {
		t.Output = l.Error.Message
	}
	// A failing command is a success of the tool; only the output shows the failure.
	if m := geminiExit.FindStringSubmatch(t.Output); m != nil && g.calls[t.ID].Name == ToolShell {
		exit, _ := strconv.Atoi(m[1])
		t.Exit = &exit
	}
	g.done(t, "")
}

// account handles the tokens of the result. The total exceeds its parts by the thinking
// tokens, which the stream does not name.
func (g *gemini) account(s *geminiStats) {
	if s == nil {
		return
	}
	most := count(-1)
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		// The CLI may fall back to another model.
		if m := s.Models[name]; m.Total > max(most, 0) {
			most, g.out.Model = m.Total, name
		}
	}
	in, out, cached := s.Input.int(), s.Output.int(), s.Cached.int()
	thoughts := max(s.Total.int()-in-out, 0)
	g.out.Usage = nil
	g.spend(prices.Usage{Input: max(in-cached, 0), CacheRead: cached, Output: out + thoughts, Reasoning: thoughts}, nil)
}

var (
	geminiAttempt = lazyregexp.MustCompile(`^Attempt (\d{1,4}) failed(?: with status (\d{3}))?`)
	geminiWait    = lazyregexp.MustCompile(`Retrying after (\d{1,9})ms`)
)

func (g *gemini) Stderr(at time.Duration, line []byte) {
	g.recorder.Stderr(at, line)
	text := inert.Truncate(string(line[:min(len(line), maxMessage)]), maxMessage)
	begins := geminiAttempt.FindStringSubmatch(text)
	if begins != nil {
		g.flush(at)
		attempt, _ := strconv.Atoi(begins[1])
		status, _ := strconv.Atoi(begins[2])
		g.notice = &Retry{Attempt: attempt, Status: status, Message: text}
	}
	if g.notice == nil {
		return
	}
	wait := geminiWait.FindStringSubmatch(text)
	if wait != nil {
		g.notice.AfterMS, _ = strconv.ParseInt(wait[1], 10, 64)
	}
	if wait != nil || begins == nil {
		g.flush(at)
	}
}

// flush records a retry when it is complete.
func (g *gemini) flush(at time.Duration) {
	if g.notice != nil {
		g.outsideLine(at)
		g.retry(*g.notice)
		g.notice = nil
	}
}

// The statuses that the CLI ends with.
const (
	geminiAuth      = 41
	geminiInput     = 42
	geminiSandbox   = 44
	geminiConfig    = 52
	geminiTurns     = 53
	geminiUntrusted = 55
)

func (g *gemini) End(exit int) Outcome {
	g.flush(g.at)
	g.outsideLine(g.at)
	var failedWith string
	if g.result != nil && g.result.Status != "success" {
		failedWith = g.result.Error.Type + ": " + g.result.Error.Message
	}
	switch {
	case exit == geminiTurns, g.turns && g.result == nil, strings.HasPrefix(failedWith, "FatalTurnLimited"), g.turns && failedWith != "":
		g.out.Stop = transcript.StopTurns
		return g.answer()
	case failedWith != "":
		return g.fail(failed(0, failedWith))
	case g.result != nil:
		return g.answer()
	}
	f := g.noResult(exit)
	switch exit {
	case geminiAuth:
		f.Reason, f.Retry, f.Lane = agent.ReasonAuth, false, true
	case geminiInput:
		f.Reason, f.Retry = agent.ReasonBadRequest, false
	case geminiSandbox, geminiConfig, geminiUntrusted:
		f.Reason, f.Retry, f.Lane = agent.ReasonNotStarted, false, true
	}
	return g.fail(f)
}
