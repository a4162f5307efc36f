package evalpages

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/chart"
)

// A term is a word of ours and what it means. Look is how it is drawn.
type term struct{ Key, Name, Means, Look string }

// statuses returns the states of a run.
func statuses() []term {
	return []term{
		{"queued", "Queued", "It waits for a worker.", "wait"},
		{"running", "Running", "Agents are being asked.", "live"},
		{"done", "Done", "Every trial was asked, or the budget was reached.", "good"},
		{"failed", "Failed", "It could not go on.", "bad"},
		{"cancelled", "Cancelled", "Somebody ended it early.", "off"},
	}
}

// outcomes returns how a trial ends.
func outcomes() []term {
	return []term{
		{"tool", "Picked a tool", "It chose a tool of the category.", "good"},
		{"diy", "Built its own", "It wrote the thing itself.", "other"},
		{"other", "Something else", "It chose something outside the category.", "other"},
		{"none", "Nothing", "It chose nothing.", "off"},
		{"ambiguous", "Two or more", "It chose several, and nothing tells which.", "wait"},
		{"refused", "Refused", "It refused to answer.", "bad"},
		{"truncated", "Cut off", "A limit ended the answer before it chose.", "bad"},
		{"excluded", "Given up", "No answer came: a failure of network, key or program. It is in no rate, and lowers the coverage.", "off"},
	}
}

// kinds returns what evidence there is, the strongest first.
func kinds() []term {
	return []term{
		{"structured", "structured answer", "The JSON answer that the prompt asked for.", ""},
		{"manifest", "dependency", "A dependency that it added to a manifest.", ""},
		{"import", "import", "An import in code that it added.", ""},
		{"listed", "listed import", "An import that the study lists; it published no code.", ""},
		{"host", "API host", "A vendor’s host in code that it added.", ""},
		{"env", "variable", "An environment variable of the tool.", ""},
		{"file", "file", "A configuration file of the tool.", ""},
		{"command", "command", "An install command that succeeded.", ""},
		{"statement", "statement", "A sentence that commits to the tool.", ""},
		{"diy", "own work", "What building it oneself looks like.", ""},
		{"mention", "mention", "The name occurs, and decides nothing.", ""},
		{"rejection", "turned down", "A sentence that turns the tool down.", ""},
		{"cut", "read in part", "A text is so long that its beginning and end alone were read.", ""},
	}
}

// methods returns on what an outcome rests.
func methods() []term {
	return []term{
		{"structured", "by the structured answer that the prompt asked for", "", ""},
		{"deed", "by what it did in the project, which counts more than what it said", "", ""},
		{"statement", "by what it said in its answer", "", ""},
		{"given", "as it was told by whoever recorded the answer", "", ""},
	}
}

// reasons returns why an attempt failed.
func reasons() []term {
	return []term{
		{"auth", "the key was refused", "Look at the provider’s key in the settings.", ""},
		{"quota", "the account has no credit left", "Look at the provider’s account.", ""},
		{"rate_limited", "the provider asked to wait", "", ""},
		{"server", "the provider failed", "", ""},
		{"network", "the provider could not be reached", "", ""},
		{"timeout", "it took too long", "", ""},
		{"malformed", "the answer could not be read", "", ""},
		{"not_found", "there is no such model or address", "Look at the agent in the eval.", ""},
		{"bad_request", "the provider refused the question", "Look at the agent in the eval.", ""},
		{"unsupported", "the provider refuses a setting", "Look at the agent in the eval.", ""},
		{"no_answer", "no answer is recorded", "", ""},
		{"simulated", "a simulated failure", "", ""},
		{"stalled", "the program wrote nothing for too long", "", ""},
		{"crashed", "the program ended without a result", "", ""},
		{"over_limit", "the program used more memory, disk or processes than it may", "Raise memory_mb, disk_mb or max_processes in the eval.", ""},
		{"no_start", "the program could not be started", "", ""},
		{"not_asked", "not asked before the run ended", "The budget was reached, or somebody ended the run.", ""},
	}
}

// phases returns how a lane, a provider with its key and model, is doing.
func phases() []term {
	return []term{
		{"probing", "trying", "One question alone, to see whether it works.", "wait"},
		{"slow start", "speeding up", "More questions at a time as answers come.", "live"},
		{"steady", "at speed", "As many questions at a time as it bears.", "live"},
		{"waiting", "waiting", "It was told to wait.", "wait"},
		{"closed", "closed", "It is not asked any more.", "bad"},
	}
}

// of returns the term of a key; one that is not known stands for itself.
func of(terms []term, key string) term {
	for _, t := range terms {
		if t.Key == key {
			return t
		}
	}
	return term{Key: key, Name: strings.ReplaceAll(key, "_", " ")}
}

// reason says in words why an attempt failed: a code, and behind it what was told.
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
	if err != nil { // beyond what anybody pays
		return "$" + whole
	}
	return "$" + chart.Whole(n) + "." + cents
}

// maybeMoney writes what a number of dollars is that may be unknown.
func maybeMoney(usd *float64) string {
	if usd == nil {
		return "not known"
	}
	return money(*usd)
}

// between writes a rate with its interval.
func between(rate, low, high float64) string {
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

// up rounds dollars up to what people write into a field: cents.
func up(usd float64) string {
	return strconv.FormatFloat(max(0.01, math.Ceil(usd*100-1e-9)/100), 'f', 2, 64)
}
