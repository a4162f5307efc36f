package operator_test

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

const auditLog = "/operator/log"

var olderPattern = regexp.MustCompile(`href="([^"]+)">Older`)

// actions returns the actions of the log at an address, newest first, over all its pages.
func (p *person) actions(path string) (out []string) {
	p.T.Helper()
	for path != "" {
		_, body := p.Get(path)
		for _, part := range strings.Split(body, `data-label="Action"><bdi class="path">`)[1:] {
			action, _, _ := strings.Cut(part, "<")
			out = append(out, action)
		}
		path = ""
		if m := olderPattern.FindStringSubmatch(body); m != nil {
			path = html.UnescapeString(m[1])
		}
	}
	return out
}

// TestLog filters the log over all workspaces by workspace and action, and pages through it.
func TestLog(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		ops, dana, erin := newOperator(t, s), newPerson(t, s, "dana@example.com"), newPerson(t, s, "erin@example.com")
		acme, other := dana.Workspace("https://acme.dev"), erin.Workspace("https://other.dev")
		for i := range 60 {
			s.Clock.Add(time.Second)
			ops.Must("Plan changed.", "/operator/workspaces/plan", "workspace", []string{acme, other}[i%2], "plan", "paid")
		}
		for path, want := range map[string]int{
			auditLog + "?action=operator.plan": 60, auditLog + "?workspace=" + acme + "&action=operator.plan": 30, auditLog + "?action=operator.pla": 0,
			auditLog + "?action=oper%25": 0, auditLog + "?workspace=nobody": 0, auditLog + "?action=operator&workspace=" + other: 30,
		} {
			if got := ops.actions(path); len(got) != want {
				t.Errorf("%s: %d lines, want %d", path, len(got), want)
			}
		}
		if all := ops.actions(auditLog); len(all) < 66 || all[0] != "operator.plan" || !slices.Contains(all, "operator.login_link") || !slices.Contains(all, "workspace.created") {
			t.Errorf("all lines: %v", all)
		}
		_, body := ops.Get(auditLog + "?workspace=" + acme)
		for _, want := range []string{ops.Email, dana.Email, acme, "plan: paid"} {
			if !strings.Contains(body, want) {
				t.Errorf("no %q in %s", want, body)
			}
		}
		if strings.Contains(body, other) {
			t.Errorf("the log of %s has %s", acme, other)
		}
		// The id of a workspace finds its lines too.
		w, err := s.Agents.DB.Read().WorkspaceBySlug(t.Context(), acme)
		if err != nil {
			t.Fatal(err)
		}
		if got := ops.actions(auditLog + "?action=operator&workspace=" + w.ID); len(got) != 30 {
			t.Errorf("by id: %d lines", len(got))
		}
		if err := s.Agents.SetPlan(t.Context(), nil, acme, ""); err != nil {
			t.Fatal(err)
		}
		if _, body := ops.Get(auditLog + "?action=operator.plan"); !strings.Contains(body, "the command line") {
			t.Errorf("by the command line: %s", body)
		}
	})
}

// TestLogWithholdsTexts: operators see the ids of an entry, and not the texts of customers.
func TestLogWithholdsTexts(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		ops := newOperator(t, s)
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			return tx.Audit(t.Context(), state.AuditEntry{ID: "aud_1", At: s.Clock.Now(), Event: "eval.stored", Detail: map[string]string{
				"eval": "evl_1", "version": "3", "name": "launch-of-hush", "hosts": "llm.hush.example", "tool": "hushly", "agent_platform": "hush-agent", "new": "hush",
			}})
		}); err != nil {
			t.Fatal(err)
		}
		_, body := ops.Get(auditLog + "?action=eval.stored")
		if !strings.Contains(body, "eval: evl_1") || !strings.Contains(body, "version: 3") || strings.Contains(body, "hush") {
			t.Errorf("the log: %s", body)
		}
	})
}

// TestHostileNames: names of workspaces, sites, workers, issuers and details are inert on every page.
func TestHostileNames(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		const bad = "<script>alert(1)</script>\u202e\" onload=x '{{.}}"
		ops := newOperator(t, s)
		w := s.Workspace(t, "acme", "paid")
		s.Ready(t, w)
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			now := s.Clock.Now()
			if err := tx.SetSettings(t.Context(), w.ID, state.Settings{Name: bad, Site: "https://" + bad, RetentionDays: 395}); err != nil {
				return err
			}
			for i, e := range []state.AuditEntry{{Event: bad, ISS: bad}, {Event: "x", WorkspaceID: bad, AccountID: bad, RegistrationID: bad, Detail: map[string]string{bad: bad}}} {
				e.ID, e.At = fmt.Sprint("aud_", i), now
				if err := tx.Audit(t.Context(), e); err != nil {
					return err
				}
			}
			_, err := tx.ClaimRun(t.Context(), bad, now, time.Hour)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/operator", list, list + "?q=%3Cscript%3E", auditLog, auditLog + "?action=%3Cscript%3E&workspace=%22onload"} {
			_, body := ops.Get(path)
			if strings.Contains(body, "<script>alert") || strings.Contains(body, `" onload=x`) || strings.Contains(body, `value=""onload`) {
				t.Errorf("%s: %s", path, body)
			}
			if !strings.Contains(path, "?") && !strings.Contains(body, "&lt;script&gt;") {
				t.Errorf("%s does not show the name: the test proves nothing: %s", path, body)
			}
		}
	})
}
