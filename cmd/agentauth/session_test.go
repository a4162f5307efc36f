package agentauth

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestSession(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "data", "agent.json")
	if _, err := ReadSession(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	s := &Session{URL: "https://a.example"}
	s.Take(Registration{ID: "reg_1", Type: Anonymous, ClaimToken: "clm_1", ClaimTokenExpires: now.Add(time.Hour)})
	for range 2 { // the second write replaces the first
		if err := s.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadSession(path)
	if err != nil || got.ClaimToken != "clm_1" || !got.Live(now) || got.Live(now.Add(time.Hour)) || !strings.HasPrefix(got.Note, "Secret") {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Error(files, err)
	}
	got.TakeToken(Token{AccessToken: "at_1", Expires: now.Add(time.Hour), IdentityAssertion: "e.y.2"}, true)
	if got.ClaimToken != "" || !got.Claimed || got.FreshToken(now) != "at_1" || got.FreshToken(now.Add(time.Hour)) != "" {
		t.Errorf("%+v", got)
	}
	if err := os.WriteFile(path, []byte(`{"claim_token":"clm_1",`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSession(path); err == nil || strings.Contains(err.Error(), "clm_1") {
		t.Error(err)
	}
}
