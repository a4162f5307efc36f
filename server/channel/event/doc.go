// Package event reads what customers report to POST /api/collect: that an agent
// met their site (touch), who a visitor is (identify), and what a person did
// (convert).
//
// [Read] turns a body, in any form that clients and log drains send, into a
// [Batch]: each event is either an [Input], checked, or a [Refusal] with a
// stable code, and a bad event never costs a good one its place. Only a body of
// which no event can be told apart is an error.
//
// An Input still holds what is sensitive, such as a full IP address, because
// agents are verified by it; it lives in memory only. [Input.Record] makes the
// form that is kept, a [Record]: no address of a person or a machine, no query
// string. E-mail addresses are hashed while they are read, and masked wherever
// else they turn up.
//
// The package is pure: it knows neither HTTP nor a store, and time is an
// argument. It does not say which agent it was; the caller fills that in.
package event
