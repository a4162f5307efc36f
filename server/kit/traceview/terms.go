package traceview

import (
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
)

// A Term is a label with its meaning. Look is its style.
type Term struct{ Key, Name, Means, Look string }

// Outcomes returns how a trial ends.
func Outcomes() []Term {
	return []Term{
		{"tool", "Picked a tool", "The agent chose a tool of the category.", "good"},
		{"diy", "Built its own", "The agent builds or runs it itself, without a tool of the list.", "other"},
		{"other", "Something else", "The agent chose something outside the category.", "other"},
		{"none", "No pick", "The answer picks no tool.", "off"},
		{"ambiguous", "Two or more", "The agent chose several tools.", "wait"},
		{trialset.Unresolved, "Unresolved", "No rule decides what the agent chose. It counts as two or more.", "wait"},
		{"refused", "Refused", "The agent refused to answer.", "bad"},
		{"truncated", "Cut off", "A limit ended the answer before it chose.", "bad"},
		{"excluded", "Failed", "No answer: a failure of the network, the key or the program. The trial is in no rate and lowers the coverage.", "off"},
	}
}

// kinds returns the kinds of evidence, strongest first.
func kinds() []Term {
	return []Term{
		{"structured", "structured answer", "The JSON answer requested by the prompt.", ""},
		{"manifest", "dependency", "A dependency added to a manifest.", ""},
		{"import", "import", "An import in added code.", ""},
		{"listed", "listed import", "An import listed by the study, which published no code.", ""},
		{"host", "API host", "A vendor’s host in added code.", ""},
		{"env", "variable", "An environment variable of the tool.", ""},
		{"file", "file", "A configuration file of the tool.", ""},
		{"command", "command", "An install command that the agent ran with success, or that its answer tells the user to run.", ""},
		{"statement", "statement", "A sentence that commits to the tool.", ""},
		{"diy", "own work", "Code that builds the thing itself, or a sentence that commits to that.", ""},
		{"mention", "mention", "The name occurs; it decides nothing.", ""},
		{"rejection", "rejection", "A sentence that rejects the tool.", ""},
		{"considered", "alternative", "Code of an alternative, or an install that failed or was taken back.", ""},
		{"lookalike", "lookalike letters", "A word mixes letters of two scripts that look the same.", ""},
		{"cut", "truncated", "The text is too long: only its beginning and end were read.", ""},
	}
}

// methods returns how an outcome was decided.
func methods() []Term {
	return []Term{
		{"structured", "by the structured answer", "", ""},
		{"deed", "by its code and commands", "", ""},
		{"statement", "by the answer text", "", ""},
		{"judge", "by two judge models that agree", "", ""},
		{"given", "by the imported record", "", ""},
	}
}

// rules returns the rules of extraction whose names say little to a reader.
func rules() []Term {
	return []Term{
		{"answers in the requested form", "The answer has the requested form", "", ""},
		{"actions use one tool", "Code and commands use one tool of the list", "", ""},
		{"actions build it", "Code builds it without a tool", "", ""},
		{"actions use two or more tools", "Code and commands use two or more tools of the list", "", ""},
		{"actions use what does not compete", "Code and commands use no tool of the list", "", ""},
		{"commits", "The answer commits to the tool", "", ""},
		{"commits to own work", "The answer commits to own work", "", ""},
		{"nothing is named", "The answer names no tool", "", ""},
		{"no choice yet", "The answer makes no choice yet", "", ""},
		{"names without a choice", "The answer names tools without a choice", "", ""},
		{"asks", "The answer asks instead of choosing", "", ""},
	}
}

// Reasons returns why an attempt failed.
func Reasons() []Term {
	return []Term{
		{"auth", "invalid key", "Check the provider key in the settings.", ""},
		{"quota", "no credit left", "Check your account at the provider.", ""},
		{"rate_limited", "rate limited by the provider", "", ""},
		{"server", "provider error", "", ""},
		{"network", "provider unreachable", "", ""},
		{"timeout", "timeout", "", ""},
		{"malformed", "malformed response", "", ""},
		{"not_found", "unknown model or address", "Check the agent in the eval.", ""},
		{"bad_request", "rejected by the provider", "Check the agent in the eval.", ""},
		{"unsupported", "unsupported setting", "Check the agent in the eval.", ""},
		{"no_answer", "no recorded answer", "", ""},
		{"simulated", "simulated failure", "", ""},
		{"stalled", "no output for too long", "", ""},
		{"crashed", "exited without a result", "", ""},
		{"over_limit", "memory, disk or process limit exceeded", "Raise memory_mb, disk_mb or max_processes in the eval.", ""},
		{"no_start", "program failed to start", "", ""},
		{"not_asked", "not run before the end", "The budget was reached, or the run was cancelled.", ""},
	}
}

// stops returns why an agent stopped, where that decides the outcome.
func stops() []Term {
	return []Term{
		{"length", "The length limit truncated the answer.", "", ""},
		{"refusal", "The provider reported a refusal.", "", ""},
		{"turns", "Turn limit reached.", "", ""},
		{"cost", "Cost limit reached.", "", ""},
		{"time", "Time limit reached.", "", ""},
		{"incomplete", "The program exited before its result.", "", ""},
		{"limit", "Memory, disk or process limit reached.", "", ""},
	}
}

// Of returns the term of a key; an unknown key is its own name.
func Of(terms []Term, key string) Term {
	for _, t := range terms {
		if t.Key == key {
			return t
		}
	}
	return Term{Key: key, Name: strings.ReplaceAll(key, "_", " ")}
}

// OutcomeOf returns the term of a trial's outcome.
func OutcomeOf(e *trialset.Entry) Term {
	if e.Unresolved {
		return Of(Outcomes(), trialset.Unresolved)
	}
	return Of(Outcomes(), e.Outcome)
}

// Reason describes why an attempt failed: a code with optional details.
func Reason(text string) string {
	code, detail, _ := strings.Cut(text, ": ")
	if detail != "" {
		return Of(Reasons(), code).Name + ": " + detail
	}
	return Of(Reasons(), code).Name
}
