// Package translog is a transparency log: an append-only Merkle tree (RFC 6962) of what
// was published, registered, corrected and removed, in plain files next to the snapshots.
// The layout is that of C2SP tlog-tiles with tiles of height 8: log/checkpoint is the
// signed tree head, log/tile/L/N[.p/W] has hashes and log/tile/entries/N[.p/W] entries.
// A reader who remembers one head detects every later change to the entries before it.
package translog

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/publish/content"
)

// A Kind is the kind of an entry.
type Kind string

// The kinds of entries.
const (
	// Snapshot is a published snapshot: ID, ManifestSHA256, AsOf, Synthetic.
	Snapshot Kind = "snapshot"
	// Registration is a run before its first request: Eval, Category, SHA256, Planned,
	// Agents, Prompts, Until.
	Registration Kind = "registration"
	// Erratum corrects a snapshot that stays: Snapshot, Text.
	Erratum Kind = "erratum"
	// Retraction withdraws a snapshot: Snapshot, Reason.
	Retraction Kind = "retraction"
	// Removal is a snapshot that was pruned: Snapshot.
	Removal Kind = "removal"
)

// An Entry is one JSON object of the log. Fields of other kinds are empty.
type Entry struct {
	Kind Kind `json:"kind"`
	// At is when it was appended, by the clock of the writer.
	At time.Time `json:"at"`

	// ID is the published snapshot, ManifestSHA256 the digest of its manifest.json.
	ID             string     `json:"id,omitempty"`
	ManifestSHA256 string     `json:"manifestSha256,omitempty"`
	AsOf           *time.Time `json:"asOf,omitempty"`
	Synthetic      bool       `json:"synthetic,omitempty"`

	Eval     string `json:"eval,omitempty"`
	Category string `json:"category,omitempty"`
	// SHA256 is the digest of the registered eval, as in the manifest of a snapshot.
	SHA256 string `json:"sha256,omitempty"`
	// Planned, Agents and Prompts count the trials, agents and prompts of the plan.
	Planned int `json:"planned,omitempty"`
	Agents  int `json:"agents,omitempty"`
	Prompts int `json:"prompts,omitempty"`
	// Until is the stopping rule, if any.
	Until string `json:"until,omitempty"`

	// Snapshot is the corrected, retracted or removed snapshot.
	Snapshot string `json:"snapshot,omitempty"`
	Text     string `json:"text,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// maxEntry limits the bytes of an entry, maxText those of its text. The layout allows
// 65,535, and maxBatch entries must fit into a signed note.
const (
	maxEntry = 16 << 10
	maxText  = 2000
)

// encode validates an entry and returns its bytes: what the tree hashes.
func (e Entry) encode() ([]byte, error) {
	missing := ""
	need := func(has bool, field string) {
		if !has && missing == "" {
			missing = field
		}
	}
	need(!e.At.IsZero(), "at")
	switch e.Kind {
	case Snapshot:
		need(e.ID != "", "id")
		need(e.ManifestSHA256 != "", "manifestSha256")
	case Registration:
		need(e.Eval != "", "eval")
		need(e.Category != "", "category")
		need(e.SHA256 != "", "sha256")
		need(e.Planned > 0, "planned")
	case Erratum:
		need(e.Snapshot != "", "snapshot")
		need(e.Text != "", "text")
	case Retraction:
		need(e.Snapshot != "", "snapshot")
		need(e.Reason != "", "reason")
	case Removal:
		need(e.Snapshot != "", "snapshot")
	default:
		return nil, fmt.Errorf("entry of the log: unknown kind %q", e.Kind)
	}
	if missing != "" {
		return nil, fmt.Errorf("entry of the log: %s of the %s is missing", missing, e.Kind)
	}
	for name, text := range map[string]string{"text": e.Text, "reason": e.Reason} {
		if len(text) > maxText {
			return nil, fmt.Errorf("entry of the log: %s of the %s is too long: %d bytes, at most %d", name, e.Kind, len(text), maxText)
		}
	}
	e.At = e.At.UTC().Truncate(time.Second)
	data, err := content.JSON(e)
	if err == nil && len(data) > maxEntry {
		err = fmt.Errorf("entry of the log: %d bytes, at most %d", len(data), maxEntry)
	}
	return bytes.TrimSuffix(data, []byte("\n")), err
}

// ParseEntry decodes an entry. It accepts kinds and fields of newer versions.
func ParseEntry(data []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("entry of the log: %w", err)
	}
	if e.Kind == "" {
		return e, errors.New("entry of the log: kind is missing")
	}
	return e, nil
}

// joinEntries encodes a bundle of entries: each with its length as a big-endian uint16.
func joinEntries(entries [][]byte) []byte {
	var out []byte
	for _, e := range entries {
		out = binary.BigEndian.AppendUint16(out, uint16(len(e))) //nolint:gosec // encode limits it
		out = append(out, e...)
	}
	return out
}

// splitEntries decodes a bundle and returns its first n entries.
func splitEntries(data []byte, n int) ([][]byte, error) {
	var out [][]byte
	for len(out) < n {
		if len(data) < 2 || len(data)-2 < int(binary.BigEndian.Uint16(data)) {
			return nil, fmt.Errorf("%d entries, want %d", len(out), n)
		}
		size := 2 + int(binary.BigEndian.Uint16(data))
		out, data = append(out, data[2:size]), data[size:]
	}
	return out, nil
}

// Live returns the index of the latest entry of each snapshot that no later entry removes.
func Live(entries []Entry) map[string]int {
	out := map[string]int{}
	for i, e := range entries {
		switch e.Kind {
		case Snapshot:
			out[e.ID] = i
		case Removal:
			delete(out, e.Snapshot)
		case Registration, Erratum, Retraction:
		}
	}
	return out
}

// A Correction is what the log says of a snapshot after its publication.
type Correction struct {
	// Retracted is the reason of the last retraction; empty without one.
	Retracted string
	Errata    []string
}

// Corrections returns the corrections of entries by snapshot.
func Corrections(entries []Entry) map[string]Correction {
	out := map[string]Correction{}
	for _, e := range entries {
		c := out[e.Snapshot]
		switch e.Kind {
		case Erratum:
			c.Errata = append(c.Errata, e.Text)
		case Retraction:
			c.Retracted = e.Reason
		case Snapshot, Registration, Removal:
			continue
		}
		out[e.Snapshot] = c
	}
	return out
}
