package traffic

import "time"

// The kinds of a Gap.
const (
	GapMissingText = "missing_text" // 404 or 410 for a .md page, llms.txt or llms-full.txt
	GapNotFound    = "not_found"    // 404 or 410 for anything else
	GapBlocked     = "blocked"      // 401, 403, 429
	GapFailed      = "error"        // 5xx
)

// NoiseSpoofed counts, in Source.Noise, the touches of spoofed agents; the other keys
// are classes of agentid.
const NoiseSpoofed = "impostor"

// The kinds of a Change.
const (
	NewAgent    = "new_agent"             // did not visit before the window
	Spike       = "spike"                 // visits three times as often as before
	SpoofBurst  = "spoof_burst"           // spoofed visits, three times as often as before
	FetchDrop   = "user_fetch_drop"       // fetches half as often for people as before
	NewNotFound = "new_not_found_cluster" // missing pages in a folder that had none before
	Silence     = "silence"               // no event for 24 hours
)

const (
	minBaseline  = 7 * day
	maxBaseline  = 90 * day
	baselineWins = 4
)

// Baseline returns the length of the time before a window that changes are compared
// with: four times the window, at least a week and at most 90 days.
func Baseline(from, to time.Time) time.Duration {
	return min(max(baselineWins*to.Sub(from), minBaseline), maxBaseline)
}
