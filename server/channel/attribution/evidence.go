package attribution

// The evidence that a touch may have, strongest first.
const (
	SignedLink = "signed_link" // a link tag we signed; none is issued, stored events may have it
	Signature  = "signature"   // the visitor was met in a verified call of an agent
	Tag        = "tag"         // via or utm_source of an assistant
	Referrer   = "referrer"    // the host of an assistant
	Declared   = "declared"    // the sender says so
)

// The classes of visitors that are named here.
const (
	classUserFetch   = "user_fetch"
	classAgentic     = "agentic_browser"
	classCoding      = "coding_agent"
	classBrowser     = "browser"
	classHTTPLibrary = "http_library"
	classNone        = "none"
)

// level returns the rank of an evidence, 1 to 5, and 6 for evidence that does not
// compete.
func level(evidence string) int {
	switch evidence {
	case SignedLink:
		return 1
	case Signature:
		return 2
	case Tag:
		return 3
	case Referrer:
		return 4
	case Declared:
		return 5
	}
	return 6
}

// person reports whether a class is that of somebody with a browser, or unknown.
func person(class string) bool {
	return class == classBrowser || class == classNone || class == ""
}

// competes reports whether a touch may be credited to an agent:
//
//	class                                       evidence
//	user_fetch, agentic_browser, coding_agent   any
//	browser, none, empty                        any (a person whom an agent sent)
//	http_library                                signature (an MCP client without a name)
//	all others: crawls, previews, data sellers,
//	monitors, probes                            never; they are reach
//
// A spoofed visitor never competes.
func (t *Touch) competes() bool {
	if t.Spoofed || level(t.Evidence) > 5 {
		return false
	}
	switch t.Class {
	case classUserFetch, classAgentic, classCoding, classBrowser, classNone, "":
		return true
	case classHTTPLibrary:
		return t.Evidence == Signature
	}
	return false
}

// unassisted reports whether a touch is of a person whom no agent sent, as far
// as one knows.
func (t *Touch) unassisted() bool {
	return !t.Spoofed && person(t.Class) && level(t.Evidence) > 5
}

// credited returns the family that a competing touch is credited to.
func (t *Touch) credited() string {
	switch {
	case level(t.Evidence) > 5:
		return NoAgent
	case t.Family != "":
		return t.Family
	case t.Agent != "":
		return t.Agent
	}
	return OtherAgent
}
