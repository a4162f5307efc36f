package field_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/field"
)

const cursor = "cursoragent@cursor.com"

// TestUnreadManifests: where a manifest cannot be read before a commit, nothing is known
// about what the commit added to it.
func TestUnreadManifests(t *testing.T) {
	const three = `{"dependencies": {"stripe": "1", "express": "1", "prisma": "1"}}`
	const four = `{"dependencies": {"stripe": "1", "express": "1", "prisma": "1", "zod": "1"}}`
	large := `{"description": "` + strings.Repeat("x", 64<<10) + `", "dependencies": {"stripe": "1"}}`
	p := plant(t)
	write := func(name, text string) {
		p.run("rm", "--quiet", "--ignore-unmatch", name)
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
				t.Fatal(err)
			}
		} else if text != "" {
			p.write(name, text)
		}
	}
	rows := []struct {
		name, before, after, moved string
		tools, unread              int
	}{
		{"read", three, four, "", 1, 0},
		{"new", "", three, "", 3, 0},
		{"blank", " \n", three, "", 3, 0},
		{"large", large, three, "", 0, 1},
		{"enlarged", three, large, "", 0, 1},
		{"repaired", strings.Replace(three, "}}", ",}}", 1), four, "", 0, 1},
		{"broken", three, four[1:], "", 0, 1},
		{"moved", large, "", three, 0, 1},
		{"untouched", large, large + " ", three, 3, 1},
		{"link", "-> ../README", three, "", 0, 1},
	}
	p.write("README", "x")
	for _, c := range rows {
		if c.before != "" {
			p.write(c.name+"/README", "x") // git rm removes an empty folder
			write(c.name+"/package.json", c.before)
		}
	}
	p.commit("Dana", dana, "Start")
	tools, unread := map[string]int{}, 0 // tools that may be seen, by commit
	for _, c := range rows {
		write(c.name+"/package.json", c.after)
		write(c.name+"/app/package.json", c.moved)
		tools[p.commit("Cursor Agent", cursor, c.name)], unread = c.tools, unread+c.unread
	}
	study, counts := p.scan(time.Time{})
	if counts.Agents != len(rows) || counts.Unread != unread {
		t.Errorf("%+v, want %d unread", counts, unread)
	}
	for _, u := range study.Units {
		var names []string
		for _, slugs := range u.Tools {
			names = append(names, slugs...)
		}
		slices.Sort(names)
		names = slices.DeleteFunc(slices.Compact(names), func(s string) bool { return !slices.Contains([]string{"stripe", "express", "prisma", "zod"}, s) })
		if len(names) != tools[u.ID] {
			t.Errorf("%s: %v, want %d", p.run("log", "-1", "--format=%s", u.ID), names, tools[u.ID])
		}
		delete(tools, u.ID)
	}
	for hash, n := range tools {
		if n > 0 {
			t.Errorf("%s: nothing, want %d", p.run("log", "-1", "--format=%s", hash), n)
		}
	}
}

// object writes a commit that git itself would refuse, with the tree and parent of HEAD.
func (p *planted) object(committer string) {
	p.t.Helper()
	p.add("Cursor Agent", cursor, fmt.Sprintf("x%d", p.commits), "Add it")
	var lines []string
	for line := range strings.Lines(p.run("cat-file", "commit", "HEAD")) {
		if strings.HasPrefix(line, "committer ") {
			if line = committer; line != "" {
				line = "committer " + line + "\n"
			}
		}
		lines = append(lines, line)
	}
	cmd := exec.CommandContext(p.t.Context(), p.git, "hash-object", "--literally", "-t", "commit", "-w", "--stdin")
	cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(strings.Join(lines, "")+"\n")
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatal(err)
	}
	p.run("reset", "--quiet", "--hard", strings.TrimSpace(string(out)))
}

// TestBadCommitsAreSkipped: the others count, and the study can be written.
func TestBadCommitsAreSkipped(t *testing.T) {
	p := plant(t)
	p.add("Cursor Agent", cursor, "jest", "Test")
	for _, committer := range []string{"Dana <d@example.com> notadate +0000", "Dana <d@example.com> 999999999999999 +0000", "Dana <d@example.com> 99999999999999999999 +0000", "Dana", ""} {
		p.object(committer)
	}
	p.commit("Cursor Agent", cursor, "Long\n\n"+strings.Repeat("Co-authored-by: Amp <amp@ampcode.com>\n", 30))
	p.write("message", "Too long\n\n"+strings.Repeat("x", 2<<20))
	p.commits++
	p.as("Cursor Agent", cursor, "commit", "--quiet", "--allow-empty", "--file", "message")
	for i := range 501 {
		p.write(fmt.Sprintf("many/%d/package.json", i), `{"dependencies": {"zod": "1"}}`)
	}
	p.commit("Cursor Agent", cursor, "Too many")
	p.add("Cursor Agent", cursor, "vitest", "Test")
	want := field.Counts{Repositories: 1, Commits: 10, Agents: 3, Skipped: 7, Units: 2}
	if _, counts := p.scan(time.Time{}); counts != want {
		t.Errorf("%+v, want %+v", counts, want)
	}
}

// TestOneRepositoryFails: the error names its path, the others are read.
func TestOneRepositoryFails(t *testing.T) {
	good, bad := plant(t), plant(t)
	good.add("Cursor Agent", cursor, "jest", "Test")
	bad.add("Cursor Agent", cursor, "zod", "Validate")
	last := bad.add("Cursor Agent", cursor, "vitest", "Test")
	tree := bad.run("rev-parse", "HEAD^{tree}")
	if err := os.Remove(filepath.Join(bad.dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	s := good.scanner()
	study, counts, err := s.Scan(t.Context(), "x", "X", []string{bad.dir, good.dir})
	if err == nil || !strings.Contains(err.Error(), bad.dir+": commit "+last) || !strings.Contains(err.Error(), "git: exit status 128: fatal: unable to read tree") {
		t.Errorf("%v", err)
	}
	if (counts != field.Counts{Repositories: 1, Commits: 1, Agents: 1, Units: 1}) || !strings.Contains(study.Source.Cite, "in 1 git histories") {
		t.Errorf("%+v, %+v", counts, study)
	}
	if _, err := observed.Encode(study); err != nil {
		t.Error(err)
	}
}

// TestQuotedMarks: a mark counts where git or GitHub writes it, not where somebody quotes it.
func TestQuotedMarks(t *testing.T) {
	p := plant(t)
	p.run("remote", "add", "origin", "git@example.com:Acme/Shop.git")
	p.write("package.json", "{}")
	p.commit("Dana", dana, "Start")
	const claude = "Co-authored-by: Claude <noreply@anthropic.com>"
	s := p.scanner()
	scan := func() (*observed.Study, field.Counts) {
		t.Helper()
		study, counts, err := s.Scan(t.Context(), "x", "X", []string{p.dir})
		if err != nil {
			t.Fatal(err)
		}
		return study, counts
	}
	isAgents := map[string]bool{}
	for i, c := range []struct {
		message string
		agent   bool
	}{
		{"One\n\n" + claude, true},
		{"Text after the trailers of a part\n\n* Part\n\n" + claude + "\n\n---------\n\nSigned-off-by: Dana <dana@example.com>\n" + claude + "\n\n(cherry picked from commit 0123456)", true},
		{"Trailers\n\nText\n\nSome-Key: value\n  continued\nSigned-off-by: Dana <dana@example.com>\n" + claude + "\n", true},
		{"Git's own line\n\nNote\n" + claude + "\nSigned-off-by: Dana <dana@example.com>", true},
		{"Quoted\n\n" + claude + "\n\nThat is how such commits end.", false},
		{"Quoted in the last paragraph\n\nSuch commits end with\n" + claude, false},
		{"Quoted, indented\n\n    " + claude, false},
		{claude, false},
		{"Quoted above a squash\n\n" + claude + "\n\n---------\n\nCo-authored-by: Eve <eve@example.com>", false},
	} {
		p.write(fmt.Sprintf("%d/package.json", i), `{"dependencies": {"zod": "1"}}`)
		isAgents[p.commit("Dana", dana, c.message)] = c.agent
	}
	study, counts := scan()
	for _, u := range study.Units {
		if !isAgents[u.ID] {
			t.Errorf("%q is of %s", p.run("log", "-1", "--format=%B", u.ID), u.Agent)
		}
	}
	if counts.Units != 4 || counts.People != 6 {
		t.Errorf("%+v", counts)
	}
	p.run("checkout", "--quiet", "--orphan", "reverts")
	bad := p.add("Cursor Agent", cursor, "zod", "Validate (#12)")
	other := strings.Repeat("ab", 20)
	for _, c := range []struct {
		message           string
		isRevert, removes bool
	}{
		{"Fix\n\nthis reverts commit " + bad + " would have been needed", false, false},
		{"Fix\n\nThis reverts commit " + bad + " would have been needed.", false, false},
		{"Fix\n\n  This reverts commit " + bad + ".", false, false},
		{"Squash (#13)\n\n* Revert \"A part\"\n\nThis reverts commit " + other + ".", false, false},
		{"Fix\n\nReverts other/upstream#12", false, false},
		{"Revert \"Another title\" (#4)\n\nReverts other/upstream#12", true, false},
		{"Revert \"A part\"\n\nThis reverts commit " + other + ".", true, false},
		{"Back out\n\nThis reverts commit " + bad + ".", true, true},
		{"Revert \"Validate\"\n\nThis reverts commit " + bad[:12] + " (Validate, 2026-01-01).", true, true},
		{"Revert \"Validate\" (#14)\n\nReverts old/name#12", true, true},
		{"Back out\n\nReverts acme/shop#12", true, true},
	} {
		p.commit("Dana", dana, c.message)
		want := map[bool]int{true: 1}[c.isRevert] + map[bool]int{true: 1}[c.removes]
		if study, is := scan(); is.Reverts != want || (len(study.Units) == 0) != c.removes {
			t.Errorf("%q: %+v", c.message, is)
		}
		p.run("reset", "--quiet", "--hard", "HEAD~")
	}
}
