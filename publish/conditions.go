package publish

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish/gather"
)

// A Condition is how an agent was asked, as far as it is public. It leaves out what may
// describe the publisher's machine or accounts: the address that was asked, the command
// line, names of environment variables, how the agent signs in, the digest of its program,
// and the texts of settings files. Two conditions may therefore read alike.
type Condition struct {
	// ID numbers the conditions of an agent from 1 in the order of the run; published
	// answers refer to it.
	ID string `json:"id"`
	// Kind is that of the eval file, such as anthropic or claude_code; imported for
	// answers that were recorded elsewhere; empty if the journal does not say.
	Kind string `json:"kind,omitempty"`
	// Asked is the requested model, Reported are those that the provider named, sorted.
	Asked    string   `json:"asked,omitempty"`
	Reported []string `json:"reported,omitempty"`
	Version  string   `json:"version,omitempty"` // of the agent's program
	// Parameters are effort, limits, and what is sent with each request; provider
	// parameters are JSON. Values have at most 500 bytes.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Web is web search: on, off or the agent's default. Network is that of commands;
	// Sandbox names the sandbox, Purity how much of a user's setup was visible.
	Web     string `json:"web,omitempty"`
	Network string `json:"network,omitempty"`
	Sandbox string `json:"sandbox,omitempty"`
	Purity  string `json:"purity,omitempty"`
	// Templates are the digests of the project templates, by name.
	Templates map[string]string `json:"templates,omitempty"`
	// Prices is the version of the price table.
	Prices string `json:"prices,omitempty"`
	// From and To are the times of the first and the last of Answers answers.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Answers int       `json:"answers"`
}

const (
	mostParameter = 500
	mostReported  = 20
)

func conditionsOf(a *gather.Agent, imported bool, p *gather.Policy) []Condition {
	var out []Condition
	for i, c := range a.Conditions() {
		public := Condition{
			ID: strconv.Itoa(i + 1), Kind: c.Kind, Asked: p.Name(c.Model), Version: p.Name(c.Version), Web: c.Web, Network: c.Network, Sandbox: c.Sandbox,
			Purity: c.Purity, Templates: c.Templates, Prices: c.Prices, From: c.From, To: c.To, Answers: c.Answers,
		}
		if imported {
			public.Kind = "imported"
		}
		for _, m := range c.Models[:min(len(c.Models), mostReported)] {
			public.Reported = append(public.Reported, p.Name(m))
		}
		slices.Sort(public.Reported)
		public.Reported = slices.Compact(public.Reported)
		for name, value := range c.Parameters {
			if strings.HasPrefix(name, "file ") {
				continue
			}
			if public.Parameters == nil {
				public.Parameters = map[string]string{}
			}
			public.Parameters[name] = p.Text(value, mostParameter)
		}
		out = append(out, public)
	}
	return out
}
