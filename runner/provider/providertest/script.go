package providertest

import (
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
)

// A Script says how the server answers a request. It may be called concurrently.
type Script func(r Request) Step

// A Step is one answer of the server. The zero Step answers with a short text.
type Step struct {
	Do Behavior
	// Text is the answer; empty means a sentence that picks a tool.
	Text string
	// Thoughts are the reasoning, in formats that show it.
	Thoughts string
	// Calls are tools that it calls after the text. A request that offers no such
	// tool gets the text alone.
	Calls []Call
	// Usage is the token usage of the answer; zero means DefaultUsage.
	Usage prices.Usage
	// Delay passes before the first byte.
	Delay time.Duration
	// Wait is how long a refusal for the rate asks to wait, Style how it says so.
	Wait  time.Duration
	Style WaitStyle
	// NoRetry adds the header x-should-retry: false.
	NoRetry bool
	// Header is added to the answer's.
	Header map[string]string
}

// A Behavior is a reaction of the server to a request.
type Behavior string

// The behaviours. A format without an exact equivalent uses its nearest one.
const (
	Answer        Behavior = ""
	Refusal       Behavior = "refusal"        // the model declines
	Blocked       Behavior = "blocked"        // a filter rejects the prompt or the answer
	Length        Behavior = "length"         // cut by the length limit
	Empty         Behavior = "empty"          // an answer without text
	EmptyLength   Behavior = "empty length"   // the limit was used up before any text
	Pause         Behavior = "pause"          // the client must continue the turn (Anthropic)
	ErrorIn200    Behavior = "error in 200"   // status 200 and an error inside
	Malformed     Behavior = "malformed"      // status 200 and half a JSON value
	CutBody       Behavior = "cut body"       // the connection ends within the answer
	CutConnection Behavior = "cut connection" // it ends before the answer
	Hang          Behavior = "hang"           // no answer, ever
	BadRequest    Behavior = "bad request"    // 400
	Unsupported   Behavior = "unsupported"    // 400 for the parameter temperature
	Unauthorized  Behavior = "unauthorized"   // the key is rejected
	NoModel       Behavior = "no model"       // 404
	Limited       Behavior = "limited"        // 429 for the rate
	DayQuota      Behavior = "day quota"      // 429 for a quota of the day
	NoMoney       Behavior = "no money"       // the credit is used up
	ServerError   Behavior = "server error"   // 500
	Overloaded    Behavior = "overloaded"     // 529, or 503 in formats that use it
)

// A WaitStyle is how a server says how long to wait.
type WaitStyle string

// The styles.
const (
	Seconds WaitStyle = ""        // retry-after: 2
	Millis  WaitStyle = "ms"      // retry-after-ms: 1500
	Date    WaitStyle = "date"    // retry-after: Sat, 21 Nov 2026 14:00:00 GMT
	InText  WaitStyle = "text"    // in the body: Google's RetryInfo, elsewhere the message
	Silent  WaitStyle = "nothing" // no wait at all
)

// A Call is one call of a tool that a program offers. The server matches it to a tool
// in the request, because programs name their tools differently.
type Call struct {
	// Shell is a command line.
	Shell string
	// Write is the path of a file to write, Content its text.
	Write, Content string
	// Tool and Args call a tool by its name.
	Tool string
	Args map[string]any
}

// DefaultUsage returns the token usage of answers whose Step has none.
func DefaultUsage() prices.Usage {
	return prices.Usage{Input: 1000, CacheRead: 200, Output: 60, Reasoning: 10}
}

// Say answers every request with a text.
func Say(text string) Script { return Always(Step{Text: text}) }

// Always answers every request with the same step.
func Always(step Step) Script { return func(Request) Step { return step } }

// Turns answers by how many rounds of tool calls a conversation has seen, so that
// many conversations at a time each get the whole script; the last Step repeats.
func Turns(steps ...Step) Script {
	return func(r Request) Step { return steps[min(r.Turn, len(steps)-1)] }
}

// InOrder answers the requests in order of arrival; the last Step repeats.
func InOrder(steps ...Step) Script {
	return func(r Request) Step { return steps[min(r.N, len(steps)-1)] }
}
