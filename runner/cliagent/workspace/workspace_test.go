//go:build unix

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// source has one template of its own, t.
func source(files map[string]string) Source {
	m := fstest.MapFS{}
	for p, text := range files {
		m[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	return Source{Load: func(name string) (fs.FS, error) {
		if name != "t" {
			return nil, errors.New("no such template")
		}
		return m, nil
	}}
}

func prepare(t *testing.T, s Source, template string) *Tree {
	t.Helper()
	tree, err := s.Prepare(t.Context(), template, filepath.Join(t.TempDir(), "w"))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func put(t *testing.T, tree *Tree, name, text string) {
	t.Helper()
	p := filepath.Join(tree.Dir, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func diff(t *testing.T, tree *Tree) ([]transcript.FileChange, Stats) {
	t.Helper()
	d, stats, err := tree.Diff(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d, stats
}

func git(t *testing.T) string {
	t.Helper()
	p, err := exec.LookPath("git")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "git") {
			t.Fatal("FIRSTPICK_REQUIRE names git, and it is not installed")
		}
		t.Skip("git is not installed")
	}
	return p
}

// TestPrepareRunsNothingOfATemplate prepares templates with a hook and a configuration that
// git would run outside the sandbox.
func TestPrepareRunsNothingOfATemplate(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	touch := "touch '" + ran + "'"
	for name, text := range map[string]string{
		".git/hooks/pre-commit": "#!/bin/sh\n" + touch + "\n",
		".git/config":           "[core]\n\tfsmonitor = \"" + touch + "\"\n",
		".git":                  "gitdir: elsewhere\n",
	} {
		files := fstest.MapFS{name: {Data: []byte(text), Mode: 0o755}, "a": {Data: []byte("a"), Mode: 0o644}}
		s := Source{Git: git(t), Load: func(string) (fs.FS, error) { return files, nil }}
		if _, err := s.Prepare(t.Context(), "t", t.TempDir()); err == nil || !strings.Contains(err.Error(), "the template has .git: remove it") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(ran); err == nil {
			t.Fatalf("%s: git ran a command of the template", name)
		}
	}
}

// TestPrepareEveryTemplate sees that each is there as it is, clean and committed,
// and the same commit each time.
func TestPrepareEveryTemplate(t *testing.T) {
	s := Source{Load: templates.Load, Git: git(t)}
	for _, name := range templates.Names() {
		var heads []string
		for range 2 {
			tree := prepare(t, s, name)
			if !tree.Committed {
				t.Errorf("%s is not committed", name)
			}
			if d, stats := diff(t, tree); len(d) != 0 || stats.Skipped != 0 || stats.Notes != nil {
				t.Errorf("%s differs from itself: %v %+v", name, d, stats)
			}
			run := func(args ...string) string {
				cmd := exec.Command(s.Git, args...)
				cmd.Dir = tree.Dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			if status := run("status", "--porcelain", "--ignored"); status != "" {
				t.Errorf("%s: git status %s", name, status)
			}
			if n := run("rev-list", "--count", "HEAD"); n != "1" {
				t.Errorf("%s: %s commits", name, n)
			}
			heads = append(heads, run("rev-parse", "HEAD"))
			if out := run("log", "-1", "--format=%an %ae %cI"); out != "Developer developer@example.com 2025-01-01T00:00:00Z" && out != "Developer developer@example.com 2025-01-01T00:00:00+00:00" {
				t.Errorf("%s: %s", name, out)
			}
		}
		if heads[0] != heads[1] {
			t.Errorf("%s: commits %v differ", name, heads)
		}
	}
}

func TestPrepareKeepsPrograms(t *testing.T) {
	tree := prepare(t, Source{Load: templates.Load}, "node-cli")
	if info, err := os.Stat(filepath.Join(tree.Dir, "bin/jot.js")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestPrepareWithoutTemplate(t *testing.T) {
	s := source(nil)
	s.Git = "/no/such/git"
	tree := prepare(t, s, eval.NoTemplate)
	if entries, err := os.ReadDir(tree.Dir); err != nil || len(entries) != 0 || tree.Committed {
		t.Errorf("%v %v", entries, err)
	}
	put(t, tree, "package.json", `{"dependencies":{"a":"1"}}`)
	if d, _ := diff(t, tree); len(d) != 1 || !slices.Equal(d[0].AddedDeps, []string{"a@1"}) {
		t.Errorf("diff %v", d)
	}
}

func TestPrepareRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := source(map[string]string{"a": "a"})
	if _, err := s.Prepare(t.Context(), "t", full); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("full folder: %v", err)
	}
	if _, err := s.Prepare(t.Context(), "u", t.TempDir()); err == nil || !strings.Contains(err.Error(), "template u") {
		t.Errorf("no template: %v", err)
	}
	s.Git = "/no/such/git"
	if _, err := s.Prepare(t.Context(), "t", t.TempDir()); err == nil || !strings.Contains(err.Error(), "git init") {
		t.Errorf("no git: %v", err)
	}
}

func TestDiff(t *testing.T) {
	tree := prepare(t, source(map[string]string{
		"package.json":     "{\n  \"dependencies\": {\n    \"next\": \"15\"\n  }\n}\n",
		"requirements.txt": "flask\nrequests==2\n",
		"src/a.ts":         "one\ntwo\nthree\n",
		"src/same.ts":      "same\n",
		"src/less.ts":      "one\ntwo\n",
		"gone.ts":          "x\n",
		"windows.ts":       "a\nb\n",
	}), "t")
	put(t, tree, "package.json", "{\n  \"dependencies\": {\n    \"next\": \"16\",\n    \"stripe\": \"^17\"\n  }\n}\n")
	put(t, tree, "web/package.json", "{\"dependencies\":{\"next\":\"15\",\"resend\":\"4\"}}") // next is known from elsewhere
	put(t, tree, "requirements.txt", "Flask\nrequests==3\nstripe\n")
	put(t, tree, "src/a.ts", "zero\none\nthree\nfour\n")
	put(t, tree, "src/less.ts", "two\n")
	put(t, tree, "windows.ts", "a\r\nb\r\nc\r\n")
	put(t, tree, "new/file.py", "import stripe\n\nlast")
	put(t, tree, "vercel.json", "")
	put(t, tree, "pnpm-lock.yaml", "stripe: 1\n")
	put(t, tree, "node_modules/x/index.js", "x")
	put(t, tree, "src/.next/x.js", "x")
	put(t, tree, ".git/config", "x")
	put(t, tree, "app.min.js", "x")
	put(t, tree, "image.png", "\x89PNG\x00")
	put(t, tree, "latin1.txt", "caf\xe9\n")
	if err := os.Remove(filepath.Join(tree.Dir, "gone.ts")); err != nil {
		t.Fatal(err)
	}
	got, stats := diff(t, tree)
	want := []transcript.FileChange{
		{Path: "new/file.py", Added: []string{"import stripe", "", "last"}},
		{Path: "package.json", AddedDeps: []string{"stripe@^17"}, Added: []string{"    \"next\": \"16\",", "    \"stripe\": \"^17\""}},
		{Path: "pnpm-lock.yaml"},
		{Path: "requirements.txt", AddedDeps: []string{"stripe"}, Added: []string{"Flask", "requests==3", "stripe"}},
		{Path: "src/a.ts", Added: []string{"zero", "four"}},
		{Path: "vercel.json"},
		{Path: "web/package.json", AddedDeps: []string{"resend@4"}, Added: []string{"{\"dependencies\":{\"next\":\"15\",\"resend\":\"4\"}}"}},
		{Path: "windows.ts", Added: []string{"c"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if stats.Files != 8 || stats.Lines != 12 || stats.Skipped != 3 || stats.Notes != nil {
		t.Errorf("stats %+v", stats)
	}
}

// TestDiffStaysInside sees that a hostile tree shows nothing from outside, holds
// nobody up and costs little.
func TestDiffStaysInside(t *testing.T) {
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree := prepare(t, source(map[string]string{"a": "a\n", "d/b": "b\n"}), "t")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(tree.Dir, name) }
	must(os.Symlink(filepath.Join(secret, "key"), at("link")))
	must(os.Symlink(secret, at("folder")))
	must(os.Symlink("/", at("root")))
	must(os.Symlink(".", at("loop")))
	must(os.Remove(at("a")))
	must(os.Symlink(filepath.Join(secret, "key"), at("a"))) // in the place of a file
	must(os.RemoveAll(at("d")))
	must(os.Symlink(secret, at("d")))
	must(syscall.Mkfifo(at("pipe"), 0o600))
	must(syscall.Mkfifo(at("package.json"), 0o600))
	huge, err := os.Create(at("huge.ts"))
	must(err)
	must(huge.Truncate(1 << 40))
	must(huge.Close())
	must(os.WriteFile(at("strange\nname\xff.ts"), []byte("x\n"), 0o600))
	deep := at("deep")
	for range 60 {
		deep = filepath.Join(deep, "d")
	}
	must(os.MkdirAll(deep, 0o700))
	got, stats := diff(t, tree)
	if len(got) != 1 || got[0].Path != "strange\nname\uFFFD.ts" {
		t.Errorf("got %q", got)
	}
	if s := fmt.Sprint(got, stats); strings.Contains(s, "SECRET") || !strings.Contains(s, "huge.ts") || !strings.Contains(s, "deeper") {
		t.Errorf("%s", s)
	}
}

func TestDiffBounds(t *testing.T) {
	tree := prepare(t, source(nil), "t")
	for i := range maxFiles + 5 {
		put(t, tree, fmt.Sprintf("f/%04d.ts", i), strings.Repeat("0123456789012345678901234567890123456789\n", 100))
	}
	got, stats := diff(t, tree)
	size := 0
	for _, c := range got {
		for _, line := range c.Added {
			size += len(line) + 1
		}
	}
	if len(got) != maxFiles || size > maxAdded || size < maxAdded-50 || len(stats.Notes) == 0 || len(stats.Notes) > maxNotes {
		t.Errorf("%d files, %d bytes, %q", len(got), size, stats.Notes)
	}
}

// TestDiffReadsLittle: what costs an agent nothing, files full of holes, must not
// take minutes to look at; and what is read has a bound.
func TestDiffReadsLittle(t *testing.T) {
	tree := prepare(t, source(nil), "t")
	for i := range 200 {
		put(t, tree, fmt.Sprintf("%03d.bin", i), "")
		if err := os.Truncate(filepath.Join(tree.Dir, fmt.Sprintf("%03d.bin", i)), maxFile); err != nil {
			t.Fatal(err)
		}
	}
	w := &walk{ctx: t.Context(), had: map[string]bool{}}
	var err error
	if w.root, err = os.OpenRoot(tree.Dir); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.root.Close() }()
	if err := w.folder(".", 0); err != nil || w.seen > 200*sniffed || w.stats.Skipped != 200 {
		t.Errorf("%d bytes were read, %d files skipped, %v", w.seen, w.stats.Skipped, err)
	}
	w.seen, w.stats = maxRead+1, Stats{}
	if err := w.folder(".", 0); err != nil || !w.full || w.stats.Skipped != 0 || len(w.stats.Notes) != 1 {
		t.Errorf("beyond the bound: %+v, %v", w.stats, err)
	}
}

func TestDiffOfWhatIsGone(t *testing.T) {
	for _, replace := range []func(dir string) error{
		func(string) error { return nil },
		func(dir string) error { return os.Symlink("/etc", dir) },
		func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
	} {
		tree := prepare(t, source(map[string]string{"a": "a"}), "t")
		if err := errors.Join(os.RemoveAll(tree.Dir), replace(tree.Dir)); err != nil {
			t.Fatal(err)
		}
		if d, stats := diff(t, tree); len(d) != 0 || len(stats.Notes) != 1 {
			t.Errorf("%v %+v", d, stats)
		}
	}
}

func TestDiffOfWhatIsClosed(t *testing.T) {
	tree := prepare(t, source(map[string]string{"a": "a"}), "t")
	put(t, tree, "b", "b")
	if err := os.Chmod(tree.Dir, 0); err != nil {
		t.Fatal(err)
	}
	d, stats := diff(t, tree)
	if info, err := os.Stat(tree.Dir); err != nil || info.Mode().Perm() != 0o700 || len(d) != 1 {
		t.Errorf("%v %+v %v", d, stats, err)
	}
}

func TestDiffCancelled(t *testing.T) {
	tree := prepare(t, source(map[string]string{"a": "a"}), "t")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := tree.Diff(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestHash(t *testing.T) {
	hash := func(s Source, name string) string {
		h, err := s.Hash(name)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seen := map[string]string{}
	for _, name := range templates.Names() {
		h := hash(Source{Load: templates.Load}, name)
		if len(h) != 64 || seen[h] != "" {
			t.Errorf("%s: %q, as %q", name, h, seen[h])
		}
		seen[h] = name
	}
	a := hash(source(map[string]string{"a": "b", "c": ""}), "t")
	if a != hash(source(map[string]string{"a": "b", "c": ""}), "t") || a == hash(source(map[string]string{"a": "", "c": "b"}), "t") || a == hash(source(map[string]string{"a": "b"}), "t") {
		t.Error("the hash does not tell templates apart")
	}
	if h := hash(source(nil), eval.NoTemplate); h != "" {
		t.Errorf("none has hash %q", h)
	}
	if _, err := source(nil).Hash("u"); err == nil {
		t.Error("no error for an unknown template")
	}
}

func TestDescribe(t *testing.T) {
	s := Source{Load: templates.Load}
	for _, name := range templates.Names() {
		if text := s.Describe(name); len(text) > maxDescription || text == "" || name != "empty" && !strings.Contains(text, "README.md:") {
			t.Errorf("%s: %d bytes %s", name, len(text), text)
		}
	}
	if text := s.Describe("fastapi-service"); !strings.Contains(text, "- app/main.py\n") || !strings.Contains(text, "fastapi[standard]") {
		t.Error(text)
	}
	if text := s.Describe(eval.NoTemplate) + s.Describe("unknown"); text != "" {
		t.Error(text)
	}
	many := map[string]string{"package.json": strings.Repeat("x", 20<<10)}
	for i := range 1000 {
		many[fmt.Sprintf("file%03d", i)] = ""
	}
	if text := source(many).Describe("t"); len(text) > maxDescription || !strings.Contains(text, "and more") {
		t.Errorf("%d bytes", len(text))
	}
}

func TestCopyTree(t *testing.T) {
	src, dst := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(src, "a/closed"), 0o700))
	must(os.WriteFile(filepath.Join(src, "a/closed/file"), []byte("text"), 0o400))
	must(os.WriteFile(filepath.Join(src, "program"), []byte("#!"), 0o755))
	must(os.Symlink("/nowhere", filepath.Join(src, "link")))
	must(os.Symlink("a", filepath.Join(src, "folder")))
	must(syscall.Mkfifo(filepath.Join(src, "pipe"), 0o600))
	must(os.Chmod(filepath.Join(src, "a/closed"), 0o500))
	t.Cleanup(func() {
		_ = os.Chmod(filepath.Join(src, "a/closed"), 0o700)
		_ = os.Chmod(filepath.Join(dst, "a/closed"), 0o700)
	})
	must(CopyTree(src, dst))
	var got []string
	must(filepath.WalkDir(dst, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dst, p)
		target, _ := os.Readlink(p)
		if d.Type() == fs.ModeSymlink {
			got = append(got, rel+" "+target)
		} else if rel != "." {
			got = append(got, rel+" "+info.Mode().String())
		}
		return nil
	}))
	want := []string{"a drwx------", "a/closed dr-x------", "a/closed/file -r--------", "folder a", "link /nowhere", "program -rwxr-xr-x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(dst, "a/closed/file")); err != nil || string(data) != "text" {
		t.Errorf("%q %v", data, err)
	}
	if err := CopyTree(src, dst); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("over an existing folder: %v", err)
	}
}
