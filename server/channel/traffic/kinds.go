package traffic

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
