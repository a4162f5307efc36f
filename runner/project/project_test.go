package project_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/project"
)

// repository makes one in the current folder, with a commit of the files, and returns its hash.
func repository(t *testing.T, dir string, files map[string]string, more ...[]string) string {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.example")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	writeFiles(t, dir, files)
	git("init", "--quiet")
	git("add", "--all")
	for _, args := range more {
		git(args...)
	}
	git("commit", "--quiet", "--message=x")
	return git("rev-parse", "HEAD")
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		mode := fs.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func gitPath(t *testing.T) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "git") {
			t.Fatal("FIRSTPICK_REQUIRE names git: ", err)
		}
		t.Skip(err)
	}
	return git
}

// TestFolderAndCommitAreTheSame reads the same files from a folder and from a commit: with
// modes, without git's own files, and with the digest that manifests record.
func TestFolderAndCommitAreTheSame(t *testing.T) {
	git := gitPath(t)
	t.Chdir(t.TempDir())
	want := map[string]string{"package.json": "{}\n", "bin/run": "#!/bin/sh\n", "a/b/c.txt": "x\x00y", "a-b.txt": ""}
	ref := repository(t, "shop", want)
	// A hook, and an attribute that would change the files of a work tree, are not in effect.
	writeFiles(t, "shop", map[string]string{".git/hooks/post-checkout": "#!/bin/sh\ntouch " + filepath.Join(t.TempDir(), "ran") + "\n"})
	digests := map[string]bool{}
	for _, s := range []project.Source{{Name: "shop", Dir: "shop"}, {Name: "shop", Git: "shop", Ref: ref}} {
		tree, digest, err := s.Load(t.Context(), git, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		digests[digest] = true
		got := map[string]string{}
		_ = fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(tree, p)
			if info, _ := d.Info(); info.Mode()&0o100 != 0 != strings.HasPrefix(string(data), "#!") {
				t.Errorf("%s has mode %v", p, info.Mode())
			}
			got[p] = string(data)
			return err
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("files %q, want %q", got, want)
		}
		hash, err := workspace.Source{Load: func(string) (fs.FS, error) { return tree, nil }}.Hash("shop")
		if err != nil || hash != digest {
			t.Errorf("digest %s, the manifest's %s, %v", digest, hash, err)
		}
		s.Digest = digest
		if _, _, err := s.Load(t.Context(), git, t.TempDir()); err != nil {
			t.Error(err)
		}
		s.Digest = strings.Repeat("0", 64)
		if _, _, err := s.Load(t.Context(), git, t.TempDir()); err == nil || !strings.Contains(err.Error(), "the files changed since the run was planned") {
			t.Errorf("another digest: %v", err)
		}
	}
	if len(digests) != 1 {
		t.Errorf("digests differ: %v", digests)
	}
}

func TestBadSources(t *testing.T) {
	git := gitPath(t)
	outside := t.TempDir()
	secret := repository(t, outside, map[string]string{"f": "secret"})
	t.Chdir(t.TempDir())
	sha := strings.Repeat("a", 40)
	many := map[string]string{}
	for i := range project.MaxFiles + 1 {
		many[fmt.Sprintf("f%d", i)] = ""
	}
	writeFiles(t, "many", many)
	writeFiles(t, "large", map[string]string{"f": strings.Repeat("x", project.MaxBytes+1)})
	writeFiles(t, "linked", map[string]string{"f": "x"})
	if err := os.Symlink("/etc/passwd", "linked/passwd"); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(outside, "out"); err != nil {
		t.Fatal(err)
	}
	ref := repository(t, "commit", map[string]string{"f": "x"})
	linked := repository(t, "linked", nil)
	submodule := repository(t, "outer", map[string]string{"f": "x"}, []string{"update-index", "--add", "--cacheinfo", "160000," + ref + ",inner"})
	large := repository(t, "large", nil)
	writeFiles(t, "hook", map[string]string{`.git\hooks\pre-commit`: "#!/bin/sh\n"})
	backslash := repository(t, "backslash", map[string]string{`a\b`: "x"})
	for name, c := range map[string]struct {
		source project.Source
		want   string
	}{
		"nothing":                            {project.Source{}, "want one of dir, and git with ref"},
		"both":                               {project.Source{Dir: "commit", Git: "commit", Ref: ref}, "want one of dir, and git with ref"},
		"a folder outside":                   {project.Source{Dir: "/etc"}, `dir: want a folder below the current one (got "/etc")`},
		"a folder above":                     {project.Source{Dir: "../x"}, `want a folder below the current one`},
		"a linked folder":                    {project.Source{Dir: "out"}, "path escapes from parent"},
		"below a linked folder":              {project.Source{Dir: "out/.git"}, "path escapes from parent"},
		"a linked repository":                {project.Source{Git: "out", Ref: secret}, "git: want a folder below the current one (out is a link that leads out of it)"},
		"a repository below a linked folder": {project.Source{Git: "out/.git", Ref: secret}, "git: want a folder below the current one"},
		"a ref of a folder":                  {project.Source{Dir: "commit", Ref: ref}, "ref: only git has one"},
		"a branch":                           {project.Source{Git: "commit", Ref: "main"}, `ref: want the full hash of a commit, as git rev-parse prints it (got "main")`},
		"another protocol":                   {project.Source{Git: "ssh://example.com/x", Ref: sha}, "git: want an https address"},
		"a password":                         {project.Source{Git: "https://me:hunter2@git.example/x", Ref: sha}, "git: the address has a user or password"},
		"a token":                            {project.Source{Git: "https://hunter2@git.example/x", Ref: sha}, "git: the address has a user or password"},
		"a token in the query":               {project.Source{Git: "https://git.example/x?token=hunter2", Ref: sha}, "git: the address has a query"},
		"a password over ssh":                {project.Source{Git: "ssh://me:hunter2@git.example/x", Ref: sha}, "git: want an https address"},
		"a bad address":                      {project.Source{Git: "https://me:hunter2@git.example:x/", Ref: sha}, "git: malformed https address"},
		"a program":                          {project.Source{Git: "ext::sh -c x", Ref: sha}, "no such file"},
		"an option":                          {project.Source{Git: "--upload-pack=x", Ref: sha}, "no such file"},
		"a missing folder":                   {project.Source{Dir: "missing"}, "no such file"},
		"a missing commit":                   {project.Source{Git: "commit", Ref: sha}, "commit " + sha + ": git fetch"},
		"many files":                         {project.Source{Dir: "many"}, "more than 1000 files"},
		"large files":                        {project.Source{Dir: "large"}, "more than 8388608 bytes"},
		"a large commit":                     {project.Source{Git: "large", Ref: large}, "more than 8388608 bytes"},
		"a link":                             {project.Source{Dir: "linked"}, "passwd is a link"},
		"a link in a commit":                 {project.Source{Git: "linked", Ref: linked}, "passwd is a link"},
		"a hook":                             {project.Source{Dir: "hook"}, `".git\\hooks\\pre-commit" is not a valid path`},
		"a backslash":                        {project.Source{Git: "backslash", Ref: backslash}, `"a\\b" is not a valid path`},
		"a submodule":                        {project.Source{Git: "outer", Ref: submodule}, "inner is a submodule"},
	} {
		t.Run(name, func(t *testing.T) {
			c.source.Name = "own"
			_, _, err := c.source.Load(t.Context(), git, t.TempDir())
			if err == nil || !strings.HasPrefix(err.Error(), "template own: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestGitIsBounded reads commits with a git that downloads and prints too much.
func TestGitIsBounded(t *testing.T) {
	gitPath(t)
	dir := t.TempDir()
	t.Chdir(dir)
	for name, c := range map[string]struct{ fetch, list, want string }{
		"objects": {`head -c 30000000 /dev/zero > "$GIT_DIR/pack"; exec sleep 60`, "", "its objects take more than 25165824 bytes"},
		"a list":  {"", "head -c 3000000 /dev/zero", "git ls-tree: more than 1048576 bytes of output"},
		"errors":  {"head -c 3000000 /dev/zero >&2", "", "git fetch: "},
	} {
		t.Run(name, func(t *testing.T) {
			writeFiles(t, name, map[string]string{"git": "#!/bin/sh\ncase \"$*\" in\n*' fetch '*) " + c.fetch + " ;;\n*' ls-tree '*) " + c.list + " ;;\nesac\n"})
			start := time.Now()
			_, _, err := project.Source{Name: "own", Git: name, Ref: strings.Repeat("a", 40)}.Load(t.Context(), filepath.Join(dir, name, "git"), t.TempDir())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
