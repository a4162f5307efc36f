package forecast

import (
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/plan"
)

// tasksOf returns the tasks of an agent, once for all repeats: what a request
// costs at worst does not depend on which one it is.
func tasksOf(e *eval.Eval, name string) []agent.Task {
	var out []agent.Task
	for _, p := range e.Prompts {
		for _, template := range e.Templates {
			out = append(out, agent.Task{
				Trial:  plan.Trial{Eval: e.Name, Category: e.Category, PromptID: p.ID, Agent: name, Template: template, Repeat: 1},
				Prompt: p.Text, Attempt: 1, Signal: func(limiter.Signal) {},
			})
		}
	}
	return out
}
