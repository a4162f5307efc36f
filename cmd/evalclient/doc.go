// Package evalclient is a client of the eval API: it stores evals on a server, has
// them run there, watches runs, and reads their scores and traces.
//
// A rejected request is an *Error. Calls that do no harm when they are made
// twice are tried again where the server is busy or down; a POST is such a call only
// with an Idempotency-Key. The key goes to the client's address alone: redirects are
// not followed, and plain http is for this machine only. No error of this package
// holds it.
package evalclient
