package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// An item is an answer that the rules left unresolved.
type item struct {
	trial   plan.Trial
	at      journal.Offset // of the record with the answer
	result  pick.Result    // the latest
	binding string
	size    int  // of the prompt, in bytes
	mute    bool // there is nothing to read
	cut     bool // lines that address a judge are left out
}

// A Survey is what a run has to judge and what was judged already.
type Survey struct {
	Plan journal.Run
	// Answers counts the trials with an answer.
	Answers int
	// Outdated counts the answers that other rules or another catalogue read last.
	Outdated int

	reader   *Reader
	tasks    map[string]string // prompts of the run, by id
	items    map[string]*item
	order    []string
	kept     Kept
	progress runner.Progress
}

// Versions are those of the rules and the catalogue that count now.
type Versions struct{ Extractor, Catalog string }

// Read surveys a run. Transcripts stay on disk.
func Read(root, id string, r *Reader, now Versions) (*Survey, error) {
	run, err := journal.ReadRun(root, id)
	if err != nil {
		return nil, err
	}
	s := &Survey{Plan: run, reader: r, tasks: map[string]string{}, items: map[string]*item{}, progress: runner.NewProgress()}
	for _, p := range run.Eval.Prompts {
		s.tasks[p.ID] = p.Text
	}
	if err := s.scan(root, now); err != nil {
		return nil, err
	}
	return s, s.bind(root)
}

// scan finds the answers that are unresolved, or that judges resolved, and everything that
// was asked about them.
func (s *Survey) scan(root string, now Versions) error {
	latest := map[string]*item{}
	at := journal.Offset{Segment: 1}
	_, err := journal.Scan(root, s.Plan.ID, journal.Offset{}, func(r journal.Record, next journal.Offset) error {
		if next.Segment != at.Segment {
			at = journal.Offset{Segment: next.Segment}
		}
		switch r.Kind {
		case journal.KindResult:
			if latest[r.Trial.ID] == nil {
				s.order = append(s.order, r.Trial.ID)
			}
			latest[r.Trial.ID] = &item{trial: r.Trial, at: at, result: valueOf(r.Result)}
		case journal.KindExtraction:
			if it := latest[r.Trial.ID]; it != nil {
				it.result = valueOf(r.Result)
			}
		default:
			s.take(r)
		}
		at = next
		return nil
	})
	s.progress.End()
	clear(s.progress.Excluded) // asked again: no answer was read
	s.Answers = len(s.order)
	for id, it := range latest {
		given := it.result.Method == pick.MethodGiven
		if !given && (it.result.Extractor != now.Extractor || it.result.Catalog != now.Catalog) {
			s.Outdated++
		}
		if !given && (it.result.Unresolved || it.result.Method == pick.MethodJudge) {
			s.items[id] = it
		}
	}
	return err
}

// valueOf returns what the survey needs of a result: all of an unresolved or judged one.
func valueOf(r *pick.Result) pick.Result {
	switch {
	case r == nil:
		return pick.Result{}
	case r.Unresolved || r.Method == pick.MethodJudge:
		return *r
	default:
		return pick.Result{Kind: r.Kind, Method: r.Method, Extractor: r.Extractor, Catalog: r.Catalog}
	}
}

// take books a record about a request.
func (s *Survey) take(r journal.Record) {
	if r.Kind == journal.KindManifest {
		s.progress.Add(r, journal.Offset{})
	}
	if r.Kind == journal.KindJudgement && r.Judgement != nil {
		s.kept.Add(r)
		s.progress.Add(unframe(r), journal.Offset{})
	}
}

// unframe returns the record that a run of requests would have.
func unframe(r journal.Record) journal.Record {
	r.Kind = r.Judgement.Step
	r.Trial = requestTrial(r.Trial, r.Judgement.Request, r.Judgement.Judge)
	return r
}

// requestTrial is the trial of a request in the run of requests.
func requestTrial(of plan.Trial, request, judge string) plan.Trial {
	return plan.Trial{ID: request, Eval: of.Eval, Category: of.Category, Agent: agentName(judge), Repeat: 1}
}

// agentName is the name of a judge among agents. No agent of an eval has one with a space.
func agentName(judge string) string { return "judge " + judge }

// bind computes the bindings and the sizes of prompts.
func (s *Survey) bind(root string) error {
	if len(s.items) == 0 {
		return nil
	}
	_, err := journal.Scan(root, s.Plan.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		it := s.items[r.Trial.ID]
		if r.Kind != journal.KindResult || it == nil || r.Answer == nil {
			return nil
		}
		it.binding = s.reader.Binding(r.Answer.Transcript)
		x := s.reader.excerpt(r.Answer.Transcript)
		it.size = s.reader.size(s.tasks[r.Trial.PromptID], x)
		it.mute, it.cut = x.empty() || it.binding == "", x.left > 0
		return nil
	})
	return err
}

func (s *Survey) subject(r journal.Record) subject {
	of := subject{trial: r.Trial.ID, task: s.tasks[r.Trial.PromptID]}
	if r.Answer != nil {
		of.Transcript = r.Answer.Transcript
	}
	return of
}

// A request is one question to one judge.
type request struct {
	*item
	id    string
	judge *Judge
}

// missing returns the requests that a pair of judges still has to answer, those about one
// answer next to each other.
func (s *Survey) missing(judges []Judge) []request {
	var out []request
	for _, id := range s.order {
		it := s.items[id]
		if it == nil || it.mute || !it.result.Unresolved {
			continue
		}
		pair := s.kept.pair(id, it.binding)
		for i := range judges {
			j := &judges[i]
			if len(pair) == 2 || len(pair) == 1 && pair[0].of.Vendor == j.Vendor {
				continue
			}
			out = append(out, request{it, j.request(it), j})
			if len(pair) == 1 {
				break // one more is enough
			}
		}
	}
	return out
}

// request returns the identity of a question to the judge: 20 hexadecimal digits.
func (j *Judge) request(it *item) string {
	h := sha256.New()
	for _, part := range []string{it.trial.ID, it.binding, j.Spec.Kind, j.Spec.Model, j.Spec.BaseURL, j.Spec.Effort} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// A Report counts a run's judgements.
type Report struct {
	Run     string `json:"run"`
	Answers int    `json:"answers"`
	// Unresolved counts the answers that the rules left unresolved, Unreadable those of
	// them without any text to judge.
	Unresolved int `json:"unresolved"`
	Unreadable int `json:"unreadable"`
	// Addressed counts the answers with lines that address a judge: they are left out.
	Addressed int `json:"addressed"`
	// Judged counts those with two judgements: Agreed + Disagreed. Invalid counts the
	// disagreements because of an invalid judgement, Resolved the agreements that decide.
	Judged    int `json:"judged"`
	Agreed    int `json:"agreed"`
	Disagreed int `json:"disagreed"`
	Invalid   int `json:"invalid"`
	Resolved  int `json:"resolved"`
	// Waiting counts those that still lack a judgement.
	Waiting int `json:"waiting"`
	// Reasons counts the invalid judgements by reason.
	Reasons map[string]int `json:"reasons"`
	// SpentUSD is the known cost of all judgements of the run; AtMostUSD adds the worst
	// case of requests whose cost is unknown.
	SpentUSD  float64 `json:"spent_usd"`
	AtMostUSD float64 `json:"at_most_usd"`
}

// Report counts.
func (s *Survey) Report() Report {
	r := Report{Run: s.Plan.ID, Answers: s.Answers, Unresolved: len(s.items), Reasons: map[string]int{}}
	r.SpentUSD, r.AtMostUSD = s.progress.SpentUSD, s.progress.SpentUSD+s.progress.LostUSD
	for id, it := range s.items {
		if it.cut {
			r.Addressed++
		}
		pair := s.kept.pair(id, it.binding)
		if len(pair) < 2 {
			if it.mute {
				r.Unreadable++
			} else {
				r.Waiting++
			}
			continue
		}
		r.Judged++
		for _, j := range pair {
			if why, ok := strings.CutPrefix(j.result.Rule, invalidPrefix); ok {
				r.Reasons[why]++
			}
		}
		switch {
		case !valid(pair):
			r.Disagreed++
			r.Invalid++
		case !same(pair):
			r.Disagreed++
		case agree(pair):
			r.Resolved++
			fallthrough
		default:
			r.Agreed++
		}
	}
	return r
}
