// Package agentauth is a client of the agent registration protocol: it
// discovers a service, registers an agent, carries the claim ceremony to a
// person, exchanges assertions for access tokens, and calls the API with them.
//
// It knows no server by name: every address comes from the service's own
// metadata, and is used only where the metadata is consistent.
//
// A claim token, an identity assertion and an access token are secrets. No
// error of this package holds one.
package agentauth
