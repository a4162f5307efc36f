package sessions

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"time"
)

// headOf decodes the head of a line. Members of an unexpected type are ignored.
func headOf(line []byte) head {
	var h head
	_ = json.Unmarshal(line, &h) // a type error leaves the member empty
	return h
}

// timeIn returns the last time of a line.
func timeIn(line []byte) time.Time {
	var latest time.Time
	for _, key := range []string{`"timestamp":`, `"timestamp_ms":`} {
		rest := line
		for range 2 {
			at := bytes.LastIndex(rest, []byte(key))
			if at < 0 {
				break
			}
			value := bytes.TrimLeft(rest[at+len(key):min(len(rest), at+len(key)+64)], " ")
			if t := timeOf(value); t.After(latest) {
				latest = t
			}
			rest = rest[:at]
		}
	}
	return latest
}

// timeOf decodes a time at the beginning of a JSON text: RFC 3339, or Unix milliseconds.
func timeOf(value []byte) time.Time {
	var text string
	var ms float64
	dec := json.NewDecoder(bytes.NewReader(value))
	if len(value) > 0 && value[0] == '"' {
		if dec.Decode(&text) == nil {
			if t, err := time.Parse(time.RFC3339, text); err == nil && t.Year() >= 2000 && t.Year() < 2200 {
				return t.UTC()
			}
		}
		return time.Time{}
	}
	if dec.Decode(&ms) == nil && ms > 1e12 && ms < 7e12 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	return time.Time{}
}

// refer reads the trajectories of sub-agents that a trajectory names.
func (f *file) refer(line []byte) {
	var l struct {
		Session string `json:"session_id"`
		Steps   []struct {
			Observation struct {
				Results []struct {
					Refs []struct {
						Session string `json:"session_id"`
						Path    string `json:"trajectory_path"`
					} `json:"subagent_trajectory_ref"`
				} `json:"results"`
			} `json:"observation"`
		} `json:"steps"`
	}
	_ = json.Unmarshal(line, &l) // a member of another type stays empty
	for _, s := range l.Steps {
		for _, result := range s.Observation.Results {
			for _, ref := range result.Refs {
				if ref.Session != l.Session && ref.Session != "" {
					f.parts = append(f.parts, ref.Session)
				}
				if ref.Path != "" {
					f.parts = append(f.parts, filepath.Join(filepath.Dir(f.path), filepath.FromSlash(ref.Path)))
				}
			}
		}
	}
}
