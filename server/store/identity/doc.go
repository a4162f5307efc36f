// Package identity holds the rules of agent registration: what an agent may do
// before and after a person claims it, how a claim proceeds, and the response to
// each poll. It uses neither HTTP nor SQL, and time is an argument.
//
// A registration's status follows from its times; nothing sweeps it:
//
//	anonymous     unclaimed ──claim asked──► pending ──code confirmed──► claimed ──► revoked
//	                  ▲                         │                           │
//	                  └───────── denied ◄───────┤ (that address only)       └─ a new assertion may
//	                                            │                              begin again
//	others        pending ──code confirmed──► claimed;  denied and expired end it
//
// An attempt (one code) is active, and then completed, superseded by a newer
// code, expired after ten minutes, locked after five wrong codes, or denied.
package identity
