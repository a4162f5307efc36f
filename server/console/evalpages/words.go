package evalpages

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A term is a label with its meaning. Look is its style.
type term struct{ Key, Name, Means, Look string }

// statuses returns the states of a run.
func statuses() []term {
	return []term{
		{"queued", "Queued", "Waiting for a worker.", "wait"},
		{"running", "Running", "Requests are being sent.", "live"},
		{"done", "Done", "All trials were run, or the budget was reached.", "good"},
		{"failed", "Failed", "The run stopped with an error.", "bad"},
		{"cancelled", "Cancelled", "Cancelled by a user.", "off"},
	}
}

// outcomes returns how a trial ends.
func outcomes() []term {
	return []term{
		{"tool", "Picked a tool", "The agent chose a tool of the category.", "good"},
		{"diy", "Built its own", "The agent wrote its own code instead.", "other"},
		{"other", "Something else", "The agent chose something outside the category.", "other"},
		{"none", "Nothing", "The agent chose nothing.", "off"},
		{"ambiguous", "Two or more", "The agent chose several tools.", "wait"},
		{trialset.Unresolved, "Unresolved", "No rule decides what the agent chose. It counts as two or more.", "wait"},
		{"refused", "Refused", "The agent refused to answer.", "bad"},
		{"truncated", "Cut off", "A limit ended the answer before it chose.", "bad"},
		{"excluded", "Failed", "No answer: a failure of the network, the key or the program. The trial is in no rate and lowers the coverage.", "off"},
	}
}

// kinds returns the kinds of evidence, strongest first.
func kinds() []term {
	return []term{
		{"structured", "structured answer", "The JSON answer requested by the prompt.", ""},
		{"manifest", "dependency", "A dependency added to a manifest.", ""},
		{"import", "import", "An import in added code.", ""},
		{"listed", "listed import", "An import listed by the study, which published no code.", ""},
		{"host", "API host", "A vendor’s host in added code.", ""},
		{"env", "variable", "An environment variable of the tool.", ""},
		{"file", "file", "A configuration file of the tool.", ""},
		{"command", "command", "An install command that succeeded.", ""},
		{"statement", "statement", "A sentence that commits to the tool.", ""},
		{"diy", "own code", "Code that builds the thing itself.", ""},
		{"mention", "mention", "The name occurs; it decides nothing.", ""},
		{"rejection", "rejection", "A sentence that rejects the tool.", ""},
		{"considered", "alternative", "Code of an alternative, or an install that failed or was taken back.", ""},
		{"lookalike", "lookalike letters", "A word mixes letters of two scripts that look the same.", ""},
		{"cut", "truncated", "The text is too long: only its beginning and end were read.", ""},
	}
}

// methods returns how an outcome was decided.
func methods() []term {
	return []term{
		{"structured", "by the structured answer", "", ""},
		{"deed", "by code, which outweighs the answer text", "", ""},
		{"statement", "by the answer text", "", ""},
		{"judge", "by two judge models that agree", "", ""},
		{"given", "by the imported record", "", ""},
	}
}

// reasons returns why an attempt failed.
func reasons() []term {
	return []term{
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

// phases returns how a lane, a provider with its key and model, is doing.
func phases() []term {
	return []term{
		{"probing", "probing", "One request at a time, until one succeeds.", "wait"},
		{"slow start", "speeding up", "More parallel requests as answers arrive.", "live"},
		{"steady", "full speed", "The highest number of parallel requests that succeeds.", "live"},
		{"waiting", "waiting", "The provider asked to wait.", "wait"},
		{"closed", "closed", "No more requests are sent.", "bad"},
	}
}

// of returns the term of a key; an unknown key is its own name.
func of(terms []term, key string) term {
	for _, t := range terms {
		if t.Key == key {
			return t
		}
	}
	return term{Key: key, Name: strings.ReplaceAll(key, "_", " ")}
}

// outcomeOf returns the term of a trial's outcome.
func outcomeOf(e *trialset.Entry) term {
	if e.Unresolved {
		return of(outcomes(), trialset.Unresolved)
	}
	return of(outcomes(), e.Outcome)
}

// reason describes why an attempt failed: a code with optional details.
func reason(text string) string {
	code, detail, _ := strings.Cut(text, ": ")
	if detail != "" {
		return of(reasons(), code).Name + ": " + detail
	}
	return of(reasons(), code).Name
}

// money writes US dollars: $12.40, $0.0031, nothing smaller than a ten-thousandth.
func money(usd float64) string {
	switch {
	case usd == 0:
		return "$0"
	case usd < 0.0001:
		return "under $0.0001"
	case usd < 0.1:
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
	whole, cents, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil { // too large for an int64
		return "$" + whole
	}
	return "$" + chart.Whole(n) + "." + cents
}

// maybeMoney formats an amount of dollars that may be unknown.
func maybeMoney(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return money(*usd)
}

// between writes a rate with its interval, unless that says nothing.
func between(rate, low, high float64) string {
	if render.Interval(low, high) == "" {
		return chart.Percent(rate)
	}
	return chart.Percent(rate) + " (" + strings.TrimSuffix(chart.Percent(low), "%") + "–" + chart.Percent(high) + ")"
}

// many counts things: 1 trial, 2 trials.
func many(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return chart.Whole(int64(n)) + " " + more
}

const minute = "2 Jan 2006, 15:04"

func when(t time.Time) string { return t.UTC().Format(minute) }

// lasted writes how long something took: 41 s, 3 min 20 s, 2 h 5 min.
func lasted(d time.Duration) string {
	d = d.Round(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h > 0:
		return strconv.Itoa(h) + " h " + strconv.Itoa(m) + " min"
	case m > 0:
		return strconv.Itoa(m) + " min " + strconv.Itoa(s) + " s"
	}
	return strconv.Itoa(s) + " s"
}

// seconds writes the milliseconds that an answer took.
func seconds(ms int64) string {
	if ms < 60_000 {
		return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
	}
	return lasted(time.Duration(ms) * time.Millisecond)
}

// up rounds dollars up to cents.
func up(usd float64) string {
	return strconv.FormatFloat(max(0.01, math.Ceil(usd*100-1e-9)/100), 'f', 2, 64)
}
