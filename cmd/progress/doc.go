// Package progress shows a run while it happens, on a terminal that a person watches or
// as lines of text elsewhere, and summarises it at the end. A View is a runner.Sink.
//
// A sink only counts an event; drawing and ranking happen on a tick, so that the runner
// never waits for a terminal. A frame and a summary are pure functions of the counts,
// the width and the time, and are tested by calling them.
package progress
