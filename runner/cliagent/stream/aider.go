package stream

import (
	"bytes"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Aider is the Decoder of its stream.
func Aider(emit func(Event)) Parser { return &aider{recorder: newRecorder(emit)} }

// aider parses the output of `aider --no-pretty --no-stream --message`, which has no
// machine-readable form. It prints the tokens after every answer of the model, and not
// after an error; its exit status has no meaning. Usage comes from its --analytics-log,
// by File. After a kill the answer is complete only if that log is.
type aider struct {
	*recorder
	text   []byte // printed since the last answer
	banner bool   // of the start, is over
	fault  string // since the last answer
	exited bool   // normally, according to its log
}

var (
	aiderBanner = lazyregexp.MustCompile(`^(Aider v\S+|(Main model|Model|Editor model|Weak model|Git repo|Repo-map|Warning|See): .*|Added .* to the chat.*|Use /help .*|Note: .*|Cur working dir: .*|Git working dir: .*)$`)
	aiderTokens = lazyregexp.MustCompile(`^Tokens: \S+ sent, .*received\.`)
	aiderError  = lazyregexp.MustCompile(`^litellm\.(\w+):? ?(.*)`)
	aiderWait   = lazyregexp.MustCompile(`^Retrying in ([\d.]{1,9}) seconds`)
)

func (a *aider) Line(at time.Duration, off int64, line []byte) {
	a.at, a.off, a.size = at, off, int64(len(line))
	text := strings.TrimRight(strings.ToValidUTF8(string(line), "�"), "\r\n\t ")
	if !a.banner {
		if v, ok := strings.CutPrefix(text, "Aider v"); ok {
			a.out.Version = v
		}
		for _, prefix := range []string{"Model: ", "Main model: "} {
			if rest, ok := strings.CutPrefix(text, prefix); ok {
				a.out.Model, _, _ = strings.Cut(rest, " with ")
			}
		}
		if text == "" || len(text) < maxMessage && aiderBanner.MatchString(text) {
			return
		}
		a.banner = true
	}
	if len(text) < maxMessage && a.notice(text) {
		return
	}
	if left := MaxFinal - len(a.text); len(text)+1 > left {
		text = inert.Truncate(text, max(left-1, 0))
		a.note("the last message was cut at 2 MiB")
	}
	if len(a.text) < MaxFinal {
		a.text = append(append(a.text, text...), '\n')
	}
}

// notice handles a message of aider itself.
func (a *aider) notice(text string) bool {
	switch {
	case aiderTokens.MatchString(text):
		a.fault = ""
		a.addText(string(bytes.TrimSpace(a.text)), "", "")
		a.text = a.text[:0]
		a.out.Answered = true
	case strings.HasPrefix(text, "Applied edit to "):
		a.changed(ToolEdit, "", strings.TrimPrefix(text, "Applied edit to "), "")
	case strings.HasPrefix(text, "Model ") && strings.HasSuffix(text, " has hit a token limit!"):
		a.out.Stop = transcript.StopLength
		a.system(text)
	case aiderError.MatchString(text):
		m := aiderError.FindStringSubmatch(text)
		a.fault = m[1] + ": " + m[2]
		a.wrong(statusIn(a.fault), a.fault)
	case a.fault != "" && aiderWait.MatchString(text):
		a.retry(Retry{Status: statusIn(a.fault), AfterMS: waitIn(text).Milliseconds(), Message: a.fault})
	case a.fault != "" && strings.HasPrefix(text, "The API provider"), a.fault != "" && strings.HasPrefix(text, "Permission was denied."),
		a.fault != "" && strings.HasPrefix(text, "Insufficient credits"):
		a.fault += " " + text
	default:
		return false
	}
	return true
}

// File reads the analytics log. Its input tokens include cached ones.
func (a *aider) File(text []byte) {
	a.outsideLine(a.at)
	for line := range bytes.Lines(text) {
		var l struct {
			Event string `json:"event"`
			P     struct {
				Model  string   `json:"main_model"`
				Input  count    `json:"prompt_tokens"`
				Output count    `json:"completion_tokens"`
				Cost   *float64 `json:"cost"`
			} `json:"properties"`
		}
		if len(line) > MaxLine || !object(line, &l) {
			continue
		}
		a.exited = a.exited || l.Event == "exit"
		if l.Event != "message_send" {
			continue
		}
		a.out.Turns++
		if a.out.Model == "" {
			a.out.Model = l.P.Model
		}
		a.spend(prices.Usage{Input: l.P.Input.int(), Output: l.P.Output.int()}, l.P.Cost)
	}
}

func (a *aider) End(exit int) Outcome {
	a.outsideLine(a.at)
	switch {
	case a.fault != "":
		return a.fail(failed(0, a.fault))
	case a.out.Answered && (exit >= 0 || a.exited), a.out.Stop != transcript.StopEnd:
		return a.answer()
	}
	f := a.noResult(exit)
	if tail := strings.TrimSpace(string(a.text)); tail != "" && a.trouble.gist() == "" {
		f.Message = inert.Truncate(f.Message+": "+tail, maxMessage)
	}
	return a.fail(f)
}
