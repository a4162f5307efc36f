package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrivacy sends what must not be kept, looks for it in every file, answer and
// export, erases a person and looks for that.
func TestPrivacy(t *testing.T) {
	s := newKilled(t)
	s.args = append(s.args, "--access-log=true")
	s.start(s.listen)
	token, key := s.claimedWorkspace()
	secrets := []string{
		"203.0.113.77", "2001:db8:1234:5678", "dana.secret@example.org", "hush-token-123", "prompt-was-this", "session-9f3c-raw", "anchor-secret", "bearer-in-ua@example.org",
	}
	events := `[
		{"type":"touch","id":"t1","visitorToken":"session-9f3c-raw","url":"https://acme.example/docs?token=hush-token-123&via=mcp#anchor-secret","status":200,"ip":"203.0.113.77",
			"userAgent":"Mozilla/5.0 (compatible; GPTBot/1.3; bearer-in-ua@example.org)","referrer":"https://chatgpt.com/c/prompt-was-this?q=hush-token-123"},
		{"type":"touch","id":"t2","visitorToken":"session-9f3c-raw","url":"/pricing?email=dana.secret@example.org","ip":"2001:db8:1234:5678::9"},
		{"type":"identify","id":"i1","visitorToken":"session-9f3c-raw","email":"Dana.Secret@example.org"},
		{"type":"convert","id":"c1","email":"dana.secret@example.org","kind":"paid","value":"9.00","currency":"EUR","orderId":"in_77"},
		{"type":"touch","id":"t3","url":"/other","userAgent":"Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)","ip":"203.0.113.77"}]`
	a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect?token=hush-token-123", json.RawMessage(events), key)
	if err != nil || a.status != http.StatusAccepted {
		t.Fatal(a, err)
	}
	s.reportWith(token, 5)
	exports := func() map[string]string {
		t.Helper()
		out := map[string]string{}
		for _, path := range []string{"/api/agent/workspace", "/api/agent/workspace/events", "/api/agent/workspace/events?format=csv", "/api/agent/workspace/events?format=parquet"} {
			a, err := s.send(http.DefaultClient, s.base, "GET", path, nil, token)
			if err != nil || a.status != http.StatusOK {
				t.Fatal(path, a, err)
			}
			out[path] = a.body
		}
		return out
	}
	for path, body := range exports() {
		for _, secret := range secrets {
			if strings.Contains(strings.ToLower(body), strings.ToLower(secret)) {
				t.Errorf("%s tells %s", path, secret)
			}
		}
	}
	whole := exports()["/api/agent/workspace/events"]
	for _, kept := range []string{`"path":"/docs"`, `"via":"mcp"`, `"network":"203.0.113.0/24"`, `"network":"2001:db8:1234::/48"`, `"referrer":"chatgpt.com"`} {
		if !strings.Contains(whole, kept) {
			t.Errorf("the export does not hold %s: %s", kept, whole)
		}
	}
	s.noneInFiles(secrets)
	s.onlyOwnersFiles()

	// The person goes; what others did stays.
	a, err = s.send(http.DefaultClient, s.base, "POST", "/api/agent/workspace/erasure", map[string]string{"email": "dana.secret@example.org"}, token)
	if err != nil || a.body != "{\"erased\":4}\n" {
		t.Fatal(a, err)
	}
	gone := func(when string) {
		t.Helper()
		for range 300 {
			if strings.Count(exports()["/api/agent/workspace/events"], "\n") == 1 {
				break
			}
			time.Sleep(100 * time.Millisecond) // reports are a second late
		}
		for path, body := range exports() {
			for _, trace := range []string{"in_77", `"eh:`, ",eh:", "/pricing"} {
				if strings.Contains(body, trace) {
					t.Errorf("%s: %s tells %s", when, path, trace)
				}
			}
		}
		if body := exports()["/api/agent/workspace/events"]; !strings.Contains(body, `"path":"/other"`) {
			t.Errorf("%s: what another did is gone too: %s", when, body)
		}
	}
	gone("after the erasure")
	for _, cmd := range s.running { // SQLite folds its log into the file when it is closed
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it ends by our signal
	}
	s.running = nil
	for _, file := range []string{"traffic.duckdb", "traffic.duckdb.wal"} {
		if err := os.Remove(filepath.Join(s.dir, "data", file)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s.start(s.listen)
	gone("with a read model made anew")
	s.noneInFiles(append(secrets, "in_77", "/pricing"))
}

// noneInFiles looks for texts in all files of the server but the mails.
func (s *killed) noneInFiles(texts []string) {
	s.t.Helper()
	if err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, s.mails.dir) {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) { // a file of DuckDB or SQLite that came and went
			return nil
		}
		for _, text := range texts {
			if strings.Contains(strings.ToLower(string(data)), strings.ToLower(text)) {
				s.t.Errorf("%s holds %s", filepath.Base(path), text)
			}
		}
		return err
	}); err != nil {
		s.t.Fatal(err)
	}
}

// onlyOwnersFiles checks that nobody else on the machine may read what is kept.
func (s *killed) onlyOwnersFiles() {
	s.t.Helper()
	if err := filepath.WalkDir(filepath.Join(s.dir, "data"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			s.t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
		}
		return nil // a file that came and went
	}); err != nil {
		s.t.Fatal(err)
	}
}
