package stream

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
)

// ATIF is the Decoder of a trajectory in the Agent Trajectory Interchange Format, version
// 1, given as one line.
func ATIF(emit func(Event)) Parser { return &atif{session: newSession(emit)} }

type atif struct{ session }

type atifTrajectory struct {
	Session string `json:"session_id"`
	Agent   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Model   string `json:"model_name"`
	} `json:"agent"`
	Steps []json.RawMessage `json:"steps"`
}

type atifStep struct {
	Timestamp string          `json:"timestamp"`
	Source    string          `json:"source"`
	Model     string          `json:"model_name"`
	Message   json.RawMessage `json:"message"` // a text or parts
	Reasoning string          `json:"reasoning_content"`
	Calls     []struct {
		ID       string          `json:"tool_call_id"`
		Function string          `json:"function_name"`
		Args     json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	Observation struct {
		Results []struct {
			Call    string          `json:"source_call_id"`
			Content json.RawMessage `json:"content"`
			IsError *bool           `json:"is_error"`
		} `json:"results"`
	} `json:"observation"`
}

func (a *atif) Line(at time.Duration, off int64, line []byte) {
	var l atifTrajectory
	if !a.object(at, off, line, &l) {
		return
	}
	a.out.Session, a.out.Version, a.out.Model = l.Session, l.Agent.Version, l.Agent.Model
	for _, raw := range l.Steps {
		var s atifStep
		if object(raw, &s) {
			a.clock(timeOf(s.Timestamp))
			a.step(&s)
		}
	}
}

func (a *atif) step(s *atifStep) {
	switch s.Source {
	case "user":
		a.prompt(typed(textOf(s.Message)))
	case "agent":
		a.out.Model = cmp.Or(s.Model, a.out.Model)
		a.think(s.Reasoning, "")
		a.addText(textOf(s.Message), "", "")
		for _, c := range s.Calls {
			t := Tool{Native: c.Function, ID: c.ID, Args: c.Args}
			if strings.EqualFold(c.Function, "bash_command") || strings.EqualFold(c.Function, "execute_bash") {
				t.Name = ToolShell
			}
			var keys struct {
				Strokes string `json:"keystrokes"`
			}
			if object(c.Args, &keys) {
				t.Command = strings.TrimSpace(keys.Strokes)
			}
			a.call(t, "")
		}
	}
	for _, r := range s.Observation.Results {
		t := Tool{ID: r.Call, Output: textOf(r.Content)}
		if m := sessionExit.FindStringSubmatch(inert.Truncate(t.Output, maxMessage)); m != nil {
			exit, _ := strconv.Atoi(m[1])
			t.Exit, t.OK = &exit, new(exit == 0)
		}
		if r.IsError != nil {
			t.OK = new(!*r.IsError)
		}
		if _, known := a.calls[t.ID]; known {
			a.done(t, "")
		}
	}
}

// End records the calls whose result is missing.
func (a *atif) End(exit int) Outcome {
	a.unfinished()
	return a.session.End(exit)
}
