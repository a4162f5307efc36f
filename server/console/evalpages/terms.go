package evalpages

import "github.com/firstpick/firstpick/server/kit/traceview"

// statuses returns the states of a run.
func statuses() []traceview.Term {
	return []traceview.Term{
		{Key: "queued", Name: "Queued", Means: "Waiting for a worker.", Look: "wait"},
		{Key: "running", Name: "Running", Means: "Requests are being sent.", Look: "live"},
		{Key: "done", Name: "Done", Means: "All trials were run, or the budget was reached.", Look: "good"},
		{Key: "failed", Name: "Failed", Means: "The run stopped with an error.", Look: "bad"},
		{Key: "cancelled", Name: "Cancelled", Means: "Cancelled by a user.", Look: "off"},
	}
}

// phases returns how a lane, a provider with its key and model, is doing.
func phases() []traceview.Term {
	return []traceview.Term{
		{Key: "probing", Name: "probing", Means: "One request at a time, until one succeeds.", Look: "wait"},
		{Key: "slow start", Name: "speeding up", Means: "More parallel requests as answers arrive.", Look: "live"},
		{Key: "steady", Name: "full speed", Means: "The highest number of parallel requests that succeeds.", Look: "live"},
		{Key: "waiting", Name: "waiting", Means: "The provider asked to wait.", Look: "wait"},
		{Key: "closed", Name: "closed", Means: "No more requests are sent.", Look: "bad"},
	}
}
