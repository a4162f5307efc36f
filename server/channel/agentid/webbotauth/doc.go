// Package webbotauth verifies requests that an agent has signed: Web Bot Auth, a
// profile of HTTP Message Signatures (RFC 9421; draft-ietf-webbotauth-
// httpsig-protocol). It reads both spellings of Signature-Agent, the bare string
// that ChatGPT sends and the dictionary of the draft, with its covered component
// "signature-agent";key="...".
//
// It verifies requests that a collector reports, so times are compared with the time of
// the request, not with the clock. Keys come from a KeySource, which has the operators
// of our list only: addresses in a header are never fetched.
package webbotauth
