package label

import (
	"fmt"
	"slices"
	"time"
)

// A Session is one person who labels the sample of a run. It is not safe for concurrent
// use; other sessions may write the same file meanwhile.
type Session struct {
	file        File
	by          string
	adjudicates bool
	now         func() time.Time
	queue       []Drawn // not labelled yet
	total       int
	made        []Drawn // labelled, the last one last
	texts       map[string][]string
}

// NewSession continues the labelling of a set by a person. One who adjudicates gets the
// trials whose labels differ and decides; that is a person who has not labelled.
func NewSession(f File, set *Set, by string, adjudicates bool, now func() time.Time) (*Session, error) {
	s := &Session{file: f, by: by, adjudicates: adjudicates, now: now, texts: map[string][]string{}}
	own := set.By(by)
	for _, l := range own {
		if l.Adjudicates != adjudicates {
			return nil, fmt.Errorf("%s has labelled this run; labels that differ are decided by someone who has not", by)
		}
	}
	wanted := func(Drawn) bool { return true }
	if adjudicates {
		for _, t := range set.Settle() {
			if t.Disputed || t.Adjudicates && t.By == by {
				s.texts[t.Trial] = texts(t.All)
			}
		}
		wanted = func(d Drawn) bool { return s.texts[d.Trial] != nil }
	}
	for _, d := range set.Sample.Trials {
		if !wanted(d) {
			continue
		}
		s.total++
		if _, ok := own[d.Trial]; !ok {
			s.queue = append(s.queue, d)
		}
	}
	for _, l := range set.Labels { // in the order in which they were made
		if i := slices.IndexFunc(set.Sample.Trials, func(d Drawn) bool { return d.Trial == l.Trial }); l.By == by {
			s.made = append(s.made, set.Sample.Trials[i])
		}
	}
	return s, nil
}

func texts(labels []Label) (out []string) {
	for _, l := range labels {
		if !slices.Contains(out, l.Text()) {
			out = append(out, l.Text())
		}
	}
	slices.Sort(out)
	return out
}

// By returns the name of the person.
func (s *Session) By() string { return s.by }

// Next returns the id of the trial to label, and false when all are labelled.
func (s *Session) Next() (trial string, ok bool) {
	if len(s.queue) == 0 {
		return "", false
	}
	return s.queue[0].Trial, true
}

// Differing returns what the labellers said of a trial to adjudicate, without their names.
func (s *Session) Differing(trial string) []string { return s.texts[trial] }

// Progress returns how many trials are labelled, and of how many.
func (s *Session) Progress() (done, total int) { return s.total - len(s.queue), s.total }

// Put stores the label of the next trial: its outcome and what belongs to it. When it
// returns, the label is on disk and the next trial is another one.
func (s *Session) Put(l Label) error {
	d := s.queue[0]
	l.Run, l.Trial, l.P, l.By, l.At, l.Adjudicates = s.file.Run, d.Trial, d.P, s.by, s.now().UTC(), s.adjudicates
	if err := s.file.Add(l); err != nil {
		return err
	}
	s.queue, s.made = s.queue[1:], append(s.made, d)
	return nil
}

// Skip moves the next trial to the end.
func (s *Session) Skip() {
	if len(s.queue) > 1 {
		s.queue = append(s.queue[1:], s.queue[0])
	}
}

// Undo withdraws the last label, also one of an earlier session, and makes its trial the
// next. It returns false where there is none.
func (s *Session) Undo() (bool, error) {
	if len(s.made) == 0 {
		return false, nil
	}
	d := s.made[len(s.made)-1]
	if err := s.file.Withdraw(Withdrawal{Run: s.file.Run, Trial: d.Trial, By: s.by, At: s.now().UTC()}); err != nil {
		return false, err
	}
	s.made, s.queue = s.made[:len(s.made)-1], slices.Insert(s.queue, 0, d)
	return true, nil
}
