package resource

import "time"

// A Catalog is a version of a workspace's own catalogue, which overlays that of the server.
type Catalog struct {
	Version int    `json:"version"` // 1, 2, 3; 0 without one
	Digest  string `json:"digest"`  // "sha256:" and the SHA-256 of source; empty without one
	// Source is YAML, as it was sent; empty for no own entries.
	Source    string     `json:"source"`
	CreatedAt *time.Time `json:"createdAt"` // null without one
	URL       string     `json:"url"`
	// Warnings come when a version is stored.
	Warnings []string `json:"warnings,omitempty"`
}
