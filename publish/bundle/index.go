package bundle

import (
	"encoding/hex"
	"math"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner/pick"
)

// An index is traces.idx and names.json while they are made.
type index struct {
	names   format.Names
	places  map[string]map[string]uint32 // by list
	entries []byte
	n       int
}

func newIndex() *index {
	x := &index{names: format.Names{Agents: []string{}, Prompts: []string{}, Templates: []string{}}, places: map[string]map[string]uint32{}}
	for _, kind := range pick.Kinds() {
		x.place("outcome", &x.names.Outcomes, string(kind))
	}
	x.place("outcome", &x.names.Outcomes, format.Excluded)
	x.place("picked", &x.names.Picked, "")
	return x
}

// place returns the place of a name in its list, and adds it if it is new.
func (x *index) place(list string, texts *[]string, name string) uint32 {
	if x.places[list] == nil {
		x.places[list] = map[string]uint32{}
	}
	i, ok := x.places[list][name]
	if !ok {
		i = uint32(len(*texts)) //nolint:gosec // at most one per trial
		*texts = append(*texts, name)
		x.places[list][name] = i
	}
	return i
}

// add appends the entry of a trial that is a line of a frame.
func (x *index) add(t *plannedTrial, frame, line int) {
	e := format.IndexEntry{
		Outcome: byte(x.place("outcome", &x.names.Outcomes, t.kind())), Mismatch: t.mismatch, Unresolved: t.unresolved,
		Agent:    x.place("agent", &x.names.Agents, t.trial.Agent),
		Prompt:   x.place("prompt", &x.names.Prompts, t.trial.PromptID),
		Template: x.place("template", &x.names.Templates, t.trial.Template),
		Repeat:   uint32(t.trial.Repeat), //nolint:gosec // small
		Picked:   x.place("picked", &x.names.Picked, t.picked),
		Frame:    uint32(frame), Line: uint32(line), //nolint:gosec // small
		CostUSD: math.NaN(), WallMS: max(0, t.wallMS),
	}
	_, _ = hex.Decode(e.ID[:], []byte(t.trial.ID)) // ids of the plan are valid
	if t.costUSD != nil {
		e.CostUSD = *t.costUSD
	}
	x.entries = e.Append(x.entries)
	x.n++
}

// encode returns the whole file.
func (x *index) encode(frames []format.Frame) []byte {
	out := format.AppendHeader(nil, len(frames), x.n)
	for i := range frames {
		out = frames[i].Append(out)
	}
	return append(out, x.entries...)
}
