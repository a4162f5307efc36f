package traffic

// The kinds of a Gap.
const (
	GapMissingText = "missing_text" // 404 or 410 for a .md page, llms.txt or llms-full.txt
	GapNotFound    = "not_found"    // 404 or 410 for anything else
	GapBlocked     = "blocked"      // 401, 403, 429
	GapFailed      = "error"        // 5xx
)

// TestPath is the page of the visit with which an installation of conversions is checked. No report
// counts visits to it.
const TestPath = "/firstpick-test"

// NoiseSpoofed counts, in Source.Noise, the touches of spoofed agents; the other keys
// are classes of agentid.
const NoiseSpoofed = "impostor"
