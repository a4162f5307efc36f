package field_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/field"
)

// A planted repository is made by git.
type planted struct {
	t        *testing.T
	git, dir string
	commits  int
	deps     []string
}

func plant(t *testing.T) *planted {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	p := &planted{t: t, git: git, dir: t.TempDir()}
	p.run("init", "--quiet", "--initial-branch=main")
	return p
}

func (p *planted) run(args ...string) string {
	p.t.Helper()
	return p.as("Dana", "dana@example.com", args...)
}

func (p *planted) as(name, mail string, args ...string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), p.git, args...)
	date := fmt.Sprintf("2026-01-01T00:%02d:00Z", p.commits)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail, "GIT_COMMITTER_NAME=Dana", "GIT_COMMITTER_EMAIL=dana@example.com",
		"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// add commits package.json with one more dependency, and returns the commit.
func (p *planted) add(name, mail, dep, message string) string {
	p.t.Helper()
	p.deps = append(p.deps, fmt.Sprintf("%q: %q", dep, "^1.0.0"))
	p.write("package.json", `{"dependencies": {`+strings.Join(p.deps, ", ")+`}}`)
	return p.commit(name, mail, message)
}

func (p *planted) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *planted) commit(name, mail, message string) string {
	p.t.Helper()
	p.commits++
	p.run("add", "--all")
	p.as(name, mail, "commit", "--quiet", "--allow-empty", "--message", message)
	return p.run("rev-parse", "HEAD")
}

func (p *planted) scanner() field.Scanner {
	p.t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		p.t.Fatal(err)
	}
	return field.Scanner{Git: p.git, Catalog: c, Now: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), Temp: p.t.TempDir()}
}

func (p *planted) scan(since time.Time) (*observed.Study, field.Counts) {
	p.t.Helper()
	s := p.scanner()
	s.Since = since
	study, counts, err := s.Scan(p.t.Context(), "mine", "Mine", []string{p.dir})
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := observed.Encode(study); err != nil && len(study.Units) > 0 {
		p.t.Fatal(err)
	}
	return study, counts
}

const (
	dana     = "dana@example.com"
	noreply  = "@users.noreply.github.com"
	withThem = "\n\nCo-authored-by: %s"
)

// TestAgentsPeopleMergesAndReverts: each commit of a planted history is counted as what it is.
func TestAgentsPeopleMergesAndReverts(t *testing.T) {
	p := plant(t)
	p.write("package.json", "{}")
	p.commit("Dana", dana, "Start")
	want := map[string]string{}    // agent by commit
	tools := map[string][]string{} // category/tool by commit
	unit := func(agent, tool, hash string) string { want[hash], tools[hash] = agent, []string{tool}; return hash }
	by := func(trailer string) string { return "Add it" + fmt.Sprintf(withThem, trailer) }
	unit("Claude Code", "orm/prisma", p.add("Dana", dana, "prisma", by("Claude Opus 4.5 <noreply@anthropic.com>")))
	unit("Codex", "orm/drizzle", p.add("Dana", dana, "drizzle-orm", by("Codex <noreply@openai.com>")))
	unit("Copilot", "testing/vitest", p.add("copilot-swe-agent[bot]", "198982749+Copilot"+noreply, "vitest", "Add tests"))
	unit("Cursor", "testing/jest", p.add("Cursor Agent", "cursoragent@cursor.com", "jest", "Add tests"))
	unit("Devin", "validation/zod", p.add("devin-ai-integration[bot]", "158243242+devin-ai-integration[bot]"+noreply, "zod", "Validate"))
	unit("Jules", "payments/stripe", p.add("google-labs-jules[bot]", "161369871+google-labs-jules[bot]"+noreply, "stripe", "Pay"))
	unit("Aider", "email/resend", p.add("Dana (aider)", dana, "resend", "Mail"))
	unit("Amp", "auth/clerk", p.add("Dana", dana, "@clerk/nextjs", by("Amp <amp@ampcode.com>")+"\r\nAmp-Thread-ID: x"))
	unit(field.Several, "llm-sdk/openai", p.add("Dana", dana, "openai", "Squash (#7)\n\nCo-authored-by: Eve <eve@example.com>\nCo-Authored-By: Claude <noreply@anthropic.com>\nco-authored-by: Cursor <cursoragent@cursor.com>"))

	// People, and programs that are no agents.
	p.add("Dana", dana, "mocha", "By hand, as Claude <noreply@anthropic.com> said")
	p.add("Claude Monet", "claude@example.com", "ava", "A person's name"+fmt.Sprintf(withThem, "Devin Smith <devin@example.com>"))
	p.add("dependabot[bot]", "49699333+dependabot[bot]"+noreply, "knex", "Bump")
	p.add("Dana", dana, "sequelize", "Accept a suggestion"+fmt.Sprintf(withThem, "Copilot <175728472+Copilot"+noreply+">"))

	// An agent's commit without a package, with a new version, with a moved and with a copied package.
	agent := by("Claude <noreply@anthropic.com>")
	p.commit("Dana", dana, agent)
	p.deps[0] = `"prisma": "^2.0.0"`
	p.write("package.json", `{"dependencies": {`+strings.Join(p.deps, ", ")+`}}`)
	p.commit("Dana", dana, agent)
	p.write("app/package.json", `{"dependencies": {`+p.deps[0]+`}}`)
	p.write("package.json", `{"dependencies": {`+strings.Join(p.deps[1:], ", ")+`}}`)
	p.commit("Dana", dana, agent)
	p.write("node_modules/x/package.json", `{"dependencies": {"typeorm": "1"}}`)
	p.commit("Dana", dana, agent)
	p.deps = p.deps[1:]

	// Reverts: of an agent, by an agent, of a squashed pull request; and one that was reverted.
	bad := p.add("Dana", dana, "typeorm", agent)
	p.commit("Dana", dana, "Revert \"Add it\"\n\nThis reverts commit "+bad+".")
	person := p.add("Dana", dana, "kysely", "By hand")
	p.commit("Dana", dana, "Revert it\n\nThis reverts commit "+person[:12]+"."+fmt.Sprintf(withThem, "Claude <noreply@anthropic.com>"))
	p.add("Cursor Agent", "cursoragent@cursor.com", "mikro-orm", "Squash (#9)")
	p.commit("Dana", dana, "Revert \"Squash\" (#10)\n\nReverts acme/shop#9")
	good := unit("Claude Code", "analytics/posthog", p.add("Dana", dana, "posthog-js", agent))
	undo := p.commit("Dana", dana, "Revert it\n\nThis reverts commit "+good+".")
	p.commit("Dana", dana, "Revert the revert\n\nThis reverts commit "+undo+".")

	// A merge by an agent brings what was committed before.
	p.run("checkout", "--quiet", "-b", "side")
	p.write("requirements.txt", "fastapi\n")
	side := p.commit("Cursor Agent", "cursoragent@cursor.com", "Serve")
	want[side], tools[side] = "Cursor", []string{"web-framework/fastapi", "webserver/fastapi"}
	p.run("checkout", "--quiet", "main")
	p.commit("Dana", dana, "Meanwhile")
	p.commits++
	p.run("merge", "--quiet", "--no-ff", "--message", agent, "side")

	study, counts := p.scan(time.Time{})
	for _, u := range study.Units {
		var got []string
		for category, slugs := range u.Tools {
			for _, slug := range slugs {
				got = append(got, category+"/"+slug)
			}
		}
		slices.Sort(got)
		if want[u.ID] != u.Agent || !slices.Contains(got, tools[u.ID][0]) {
			t.Errorf("%s: %s added %v, want %s and %v", p.run("log", "-1", "--format=%an: %s", u.ID), u.Agent, got, want[u.ID], tools[u.ID])
		}
		delete(want, u.ID)
	}
	for hash, agent := range want {
		t.Errorf("%s by %s is missing", p.run("log", "-1", "--format=%an: %s", hash), agent)
	}
	expected := field.Counts{Repositories: 1, Commits: 30, Agents: 15, People: 6, Merges: 1, Reverts: 8, Units: 11}
	if counts != expected || counts.Agents+counts.People+counts.Merges+counts.Reverts != counts.Commits {
		t.Errorf("%+v, want %+v", counts, expected)
	}
	if late, n := p.scan(time.Date(2026, 1, 1, 0, 20, 0, 0, time.UTC)); n.Commits >= 15 || len(late.Units) != 2 {
		t.Errorf("since: %+v", n)
	}
	if len(field.Agents()) != 8 {
		t.Errorf("%d kinds of agents", len(field.Agents()))
	}
}

// TestHostileRepositories: nothing that a repository's configuration names is run.
func TestHostileRepositories(t *testing.T) {
	p := plant(t)
	p.add("Cursor Agent", "cursoragent@cursor.com", "jest", "Add \x1b[31mtests")
	proof := filepath.Join(p.dir, "ran")
	program := filepath.Join(p.dir, "evil.sh")
	p.write("evil.sh", "#!/bin/sh\ntouch "+proof+"\ncat\n")
	p.write(".gitattributes", "* diff=evil filter=evil\n")
	p.write("package.json", `{"dependencies": {"jest": "1", "zod": "1"}}`)
	p.commit("Cursor Agent", "cursoragent@cursor.com", "More")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.smudge", "gpg.program", "core.alternateRefsCommand"} {
		p.run("config", key, program)
	}
	for key, value := range map[string]string{
		"log.showSignature": "true", "remote.origin.url": "ext::" + program, "remote.origin.promisor": "true", "extensions.partialClone": "origin",
		"protocol.ext.allow": "always", "core.repositoryformatversion": "1", "core.hooksPath": p.dir,
	} {
		p.run("config", key, value)
	}
	blob := filepath.Join(p.dir, ".git", "objects", p.run("rev-parse", "HEAD:package.json"))
	blob = filepath.Join(filepath.Dir(blob), filepath.Base(blob)[:2], filepath.Base(blob)[2:])
	_ = os.Remove(proof) // what the planting ran
	study, counts := p.scan(time.Time{})
	if counts.Agents != 2 || len(study.Units) != 2 {
		t.Errorf("%+v, %+v", counts, study.Units)
	}
	if err := os.Remove(blob); err != nil { // as in a partial clone
		t.Fatal(err)
	}
	s := p.scanner()
	if _, _, err := s.Scan(t.Context(), "x", "X", []string{p.dir}); err == nil || !strings.Contains(err.Error(), "package.json: a file of the history is missing") {
		t.Errorf("a missing object: %v", err)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("the configuration of the repository ran a program")
	}
}

func TestWhatIsNoRepository(t *testing.T) {
	p := plant(t)
	s := field.Scanner{Git: p.git, Catalog: &catalog.Catalog{}, Temp: t.TempDir()}
	for _, path := range []string{p.dir, t.TempDir(), filepath.Join(p.dir, "missing"), "--help"} {
		if _, _, err := s.Scan(t.Context(), "x", "X", []string{path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if left, _ := os.ReadDir(s.Temp); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestClonesCountOnce: a clone has the same commits. Shallow and partial ones fail: their
// first commits would look as if they added everything.
func TestClonesCountOnce(t *testing.T) {
	p := plant(t)
	p.add("Cursor Agent", "cursoragent@cursor.com", "jest", "One")
	p.add("Cursor Agent", "cursoragent@cursor.com", "zod", "Two")
	p.run("config", "uploadpack.allowFilter", "true")
	clone, shallow, partial := t.TempDir(), t.TempDir(), t.TempDir()
	p.run("clone", "--quiet", "--bare", "file://"+p.dir, clone)
	p.run("clone", "--quiet", "--depth=1", "file://"+p.dir, shallow)
	p.run("clone", "--quiet", "--filter=blob:none", "file://"+p.dir, partial)
	s := p.scanner()
	one, _, err := s.Scan(t.Context(), "x", "X", []string{p.dir})
	if err != nil {
		t.Fatal(err)
	}
	both, counts, err := s.Scan(t.Context(), "x", "X", []string{clone, p.dir})
	if err != nil || len(both.Units) != 2 || counts.Commits != 2 {
		t.Errorf("%+v, %v", counts, err)
	}
	one.Source, both.Source = observed.Source{Title: "t", Cite: "c"}, observed.Source{Title: "t", Cite: "c"}
	a, err1 := observed.Encode(one)
	b, err2 := observed.Encode(both)
	if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Errorf("a clone makes another study: %v, %v", err1, err2)
	}
	for path, command := range map[string]string{shallow: "fetch --unshallow", partial: "fetch --refetch --no-filter"} {
		study, n, err := s.Scan(t.Context(), "x", "X", []string{path, p.dir})
		if err == nil || !strings.Contains(err.Error(), "git -C "+path+" "+command) || n.Repositories != 1 || len(study.Units) != 2 {
			t.Errorf("%s: %+v, %v", path, n, err)
		}
		if study, _, err := s.Scan(t.Context(), "x", "X", []string{path}); study != nil || err == nil {
			t.Errorf("%s alone: %+v, %v", path, study, err)
		}
		p.run(append([]string{"-C", path}, strings.Fields(command)...)...)
		if _, n, err := s.Scan(t.Context(), "x", "X", []string{path, p.dir}); err != nil || n.Units != 2 || n.Commits != 2 {
			t.Errorf("%s, complete: %+v, %v", path, n, err)
		}
	}
}

// TestCopiesCountOnce: a cherry-picked commit whose branch is merged later is one unit.
func TestCopiesCountOnce(t *testing.T) {
	p := plant(t)
	p.write("package.json", "{}")
	p.commit("Dana", dana, "Start")
	p.run("checkout", "--quiet", "-b", "side")
	picked := p.add("Cursor Agent", "cursoragent@cursor.com", "zod", "Validate")
	p.run("checkout", "--quiet", "main")
	p.write("README", "x")
	p.commit("Dana", dana, "Meanwhile")
	p.run("cherry-pick", "-x", picked)
	p.commits++
	p.run("merge", "--quiet", "--no-ff", "--message", "Merge", "side")
	// Two commits in a second are two.
	for _, message := range []string{"One", "Two"} {
		p.as("Cursor Agent", "cursoragent@cursor.com", "commit", "--quiet", "--allow-empty", "--message", message)
	}
	want := field.Counts{Repositories: 1, Commits: 7, Agents: 3, People: 2, Merges: 1, Copies: 1, Units: 1}
	if study, counts := p.scan(time.Time{}); counts != want || study.Units[0].Agent != "Cursor" {
		t.Errorf("%+v, want %+v", counts, want)
	}
}
