package sessions

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/importer"
)

// A Task is a prompt of the catalogue.
type Task struct {
	Category string
	Prompt   eval.Prompt
}

// A Scheme says what the sessions measure.
type Scheme struct {
	// Category is the category of all sessions. If it is empty, a session belongs to the
	// category whose task its prompt is.
	Category string
	Tasks    []Task
	// Agent replaces the names of the agents, which are those of program and model.
	Agent string
}

// Trials makes a trial of each session. The sessions of one agent and prompt are repeats,
// in the order of their times. It moves sessions without a category to the skipped ones.
func (r *Report) Trials(s Scheme) []importer.Line {
	tasks := map[string]Task{}
	for _, t := range s.Tasks {
		if s.Category == "" || t.Category == s.Category {
			tasks[t.Prompt.TextKey()] = t
		}
	}
	sorting.StableFunc(r.Sessions, func(a, b Session) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID), strings.Compare(a.Path, b.Path))
	})
	repeats, texts := map[[3]string]int{}, map[string]string{}
	var lines []importer.Line
	kept := r.Sessions[:0]
	for _, one := range r.Sessions {
		prompt := eval.Prompt{Text: one.Prompt}
		key := cmp.Or(prompt.TextKey(), one.Prompt)
		task, ok := tasks[key]
		switch {
		case ok:
			prompt = task.Prompt
		case s.Category == "":
			r.Skipped = append(r.Skipped, Skip{one.Path, NoCategory, "the prompt is no task of the catalogue: --category says what it measures"})
			continue
		default:
			// Texts with the same key are one prompt, in the words of the first.
			if texts[key] == "" {
				texts[key] = one.Prompt
			}
			task.Category, prompt.ID, prompt.Text = s.Category, promptID(key), texts[key]
		}
		kept = append(kept, one)
		agent := cmp.Or(s.Agent, agentName(one.Agent, one.Model))
		id := [3]string{agent, task.Category, prompt.ID}
		repeats[id]++
		at := one.At
		lines = append(lines, importer.Line{
			Agent: agent, Category: task.Category, PromptID: prompt.ID, Prompt: prompt.Text, Family: prompt.Family, Tags: prompt.Tags,
			Repeat: repeats[id], At: &at, Input: &one.Answer,
		})
	}
	r.Sessions = kept
	return lines
}

// promptID identifies a prompt outside of the catalogue by its text.
func promptID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "session-" + hex.EncodeToString(sum[:6])
}

var notInName = lazyregexp.MustCompile(`[^\pL\pN .,_/:+()@-]+`)

// agentName is program/model in the characters that the name of an agent may have.
func agentName(program, model string) string {
	name := cmp.Or(program, "agent")
	if model != "" {
		name += "/" + model
	}
	runes := []rune(notInName.ReplaceAllString(name, "-"))
	runes = runes[:min(len(runes), 100)]
	name = strings.TrimFunc(string(runes), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	return cmp.Or(name, "agent")
}
