package docs

import (
	"maps"
	"slices"

	"github.com/firstpick/firstpick/server/store/quota"
)

// A ruleRow is a line of the table of limits.
type ruleRow struct{ Name, Rate, Meaning string }

// meanings describes each limit: the event and the key.
func meanings() map[string]string {
	return map[string]string{
		"anonymous.ip":                 "anonymous registrations, of one address",
		"anonymous.ip-day":             "the same, in a day",
		"anonymous.block":              "anonymous registrations, of one address block",
		"anonymous.block-day":          "the same, in a day",
		"anonymous.all":                "anonymous registrations, of everybody together (a ceiling)",
		"service-auth.ip":              "service_auth registrations, of one address",
		"service-auth.email-block":     "service_auth registrations that name one person, of one address block",
		"service-auth.email-block-day": "the same, in a day",
		"service-auth.email":           "service_auth registrations that name one person, of everybody together (a ceiling)",
		"service-auth.email-day":       "the same, in a day (a ceiling)",
		"assertion.ip":                 "ID-JAGs presented, of one address",
		"assertion.issuer":             "ID-JAGs of one issuer",
		"assertion.subject":            "ID-JAGs of one subject of an issuer",
		"assertion-failures.ip":        "ID-JAGs that were refused, of one address",
		"claim.registration":           "codes asked for, of one registration",
		"claim.email-block":            "codes for one person, asked for from one address block",
		"claim.email":                  "codes for one person, asked for by everybody together (a ceiling)",
		"over-ceiling.block":           "what one address block may still do while a ceiling is reached",
		"wrong-codes.account":          "wrong codes typed, of one account",
		"wrong-codes.ip":               "wrong codes typed, of one address",
		"unknown-tokens.ip":            "unknown tokens, of one address",
		"exchange.registration":        "token exchanges, of one registration",
		"keys.registration":            "collector keys made, of one registration",
		"workspaces.account":           "workspaces created in a browser, of one account",
		"invitations.account":          "invitations to workspaces that one account mails",
		"invitations.email":            "invitations mailed to one person, from all callers together",
		"person.registration":          "exports and erasures of persons, of one registration",
		"collect.key":                  "collector requests, of one key, at one server",
		"collect.ip":                   "collector requests with a publishable key, of one address, at one server",
		"collect-events.key":           "events with one publishable key, at one server",
		"collect-failures.ip":          "collector requests with a wrong key, or with a body that cannot be read and no secret key, of one address, at one server",
		"events.issuer":                "security events of one issuer",
		"event-failures.ip":            "security events that were refused, of one address",
		"eval-read.key":                "reads of the eval API, of one key, at one server",
		"eval-write.key":               "changes by the eval API, of one key, at one server",
		"eval-run.key":                 "runs started, of one key, at one server",
		"eval-failures.ip":             "eval API requests with a wrong key, of one address, at one server",
		"sign-in.email-block":          "sign-in links for one person, asked for from one address block",
		"sign-in.email":                "sign-in links mailed to one person, from all callers together",
		"sign-in.email-day":            "the same, in a day",
		"sign-in.browser":              "sign-in links for one person, asked for in a browser that signed in as that person before",
		"sign-in.ip":                   "sign-in links asked for, of one address",
	}
}

func describedRules(rules quota.Rules) []ruleRow {
	var out []ruleRow
	said := meanings()
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		out = append(out, ruleRow{name, rate(rules[name]), said[name]})
	}
	return out
}
