// Package event decodes the events of POST /api/collect: a visit of an agent (touch),
// the identity of a visitor (identify), and a conversion of a person (convert).
//
// [Read] decodes a body, in any format of clients and log drains, to a [Batch]. Each
// event is either a validated [Input] or a [Refusal] with a stable code, and an invalid
// event does not affect valid ones. Only a body that cannot be split into events is an
// error.
//
// An Input still holds sensitive data, such as a full IP address, which verifies agents;
// it stays in memory. [Input.Record] returns its stored form, a [Record]: no address of
// a person or a machine, no query string. E-mail addresses are hashed when read, and
// masked in other fields.
//
// The package is pure: it uses neither HTTP nor a store, and time is an argument. The
// caller identifies the agent.
package event
