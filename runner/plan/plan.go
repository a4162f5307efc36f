// Package plan turns an eval into trials and their order.
//
// A trial's id depends on prompt, agent, template and repeat, never on time or order, so
// a run that is resumed, repeated or merged finds its trials again.
// The order is block-randomised: a block is one repeat and holds every (prompt,
// agent, template) once, in an order drawn by a hash of the seed. Any prefix of
// the order is balanced to within one block, so a run that stops early still
// compares like with like. A run with a stopping rule has another order; see Families.
package plan

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/firstpick/firstpick/runner/eval"
)

// A Trial is one prompt to one agent, in one repeat.
type Trial struct {
	// ID is 20 hexadecimal digits.
	ID       string `json:"id"`
	Eval     string `json:"eval"`
	Category string `json:"category"`
	PromptID string `json:"prompt_id"`
	// Family and Tags are those of the prompt; Family is empty in journals of older
	// programs, whose prompts have none.
	Family   string    `json:"family,omitempty"`
	Tags     eval.Tags `json:"tags,omitzero"`
	Agent    string    `json:"agent"`
	Template string    `json:"template"`
	// Repeat counts from 1.
	Repeat int `json:"repeat"`
}

// idBytes is the length of a trial id in bytes: with ten million trials the
// chance that any two collide is below 1e-10.
const idBytes = 10

// TrialID returns the identity of a trial: a digest over its parts, each with
// its length, so that different trials never collide.
func TrialID(eval, promptID, promptText, agent, template string, repeat int) string {
	h := sha256.New()
	for _, part := range []string{eval, promptID, promptText, agent, template} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(repeat)) //nolint:gosec // repeats are positive
	h.Write(n[:])
	return hex.EncodeToString(h.Sum(nil)[:idBytes])
}

// New returns the trials of an eval in the order of their execution.
func New(e *eval.Eval) []Trial {
	trials := make([]Trial, 0, e.Trials())
	for repeat := 1; repeat <= e.Repeats; repeat++ {
		trials = append(trials, block(e, repeat)...)
	}
	return trials
}

func block(e *eval.Eval, repeat int) []Trial {
	var out []Trial
	for _, p := range e.Prompts {
		for _, a := range e.Agents {
			for _, t := range e.Templates {
				out = append(out, Trial{
					ID: TrialID(e.Name, p.ID, p.Text, a.Name, t, repeat), Eval: e.Name, Category: e.Category,
					PromptID: p.ID, Family: p.FamilyName(), Tags: p.Tags, Agent: a.Name, Template: t, Repeat: repeat,
				})
			}
		}
	}
	shuffle(out, e.Seed, func(t Trial) string { return t.ID })
	return out
}

// orderKey places a trial inside its block. The id already holds the repeat, so
// the order differs between blocks.
func orderKey(seed uint64, id string) uint64 {
	var s [8]byte
	binary.BigEndian.PutUint64(s[:], seed)
	sum := sha256.Sum256(append(s[:], id...))
	return binary.BigEndian.Uint64(sum[:8])
}
