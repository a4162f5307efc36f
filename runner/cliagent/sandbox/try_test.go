package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDetectTriesWhatTrialsDo finds a sandbox where trials work and none where they would not.
func TestDetectTriesWhatTrialsDo(t *testing.T) {
	bubble(t)
	for name, make := range map[string]func(t *testing.T, c *Config){
		"home below tmp": func(t *testing.T, c *Config) { c.Home = t.TempDir() },
		"data below home below tmp": func(t *testing.T, c *Config) {
			c.Home = t.TempDir()
			c.Root, c.Hide = filepath.Join(c.Home, "shop", "data", "work", "try"), []string{filepath.Join(c.Home, "shop/data")}
		},
		"data in a folder that others cannot enter": func(t *testing.T, c *Config) {
			dir := outside(t)
			c.Root, c.Hide = filepath.Join(dir, "shop", "data", "work", "try"), []string{filepath.Join(dir, "shop/data")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config()
			c.Root = filepath.Join(t.TempDir(), "work")
			make(t, &c)
			s, err := Detect(t.Context(), c)
			if err != nil || s.Warning() != "" {
				t.Fatalf("%q %v", s.Warning(), err)
			}
			if _, err := os.Stat(c.Root); err == nil {
				t.Errorf("%s is left behind", c.Root)
			}
			dir := filepath.Join(c.Root, "t")
			o := Options{Workdir: filepath.Join(dir, "app"), Home: filepath.Join(dir, "home"), Tmp: filepath.Join(dir, "tmp"), Hide: c.Hide}
			for _, d := range []string{o.Workdir, o.Home, o.Tmp} {
				if err := os.MkdirAll(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Own(dir); err != nil {
				t.Fatal(err)
			}
			if got := sh(t, s, o, "echo a > file && cat file && echo b > ~/file && cat ~/file"); got != "a\nb" {
				t.Errorf("%q", got)
			}
		})
	}
	c := config()
	c.Root, c.Superuser = filepath.Join(t.TempDir(), "work"), false
	c.Try = func(_ context.Context, argv []string) error {
		if !slices.Contains(argv, "--chdir") {
			return nil
		}
		return errors.New("no folder")
	}
	if s, err := Detect(t.Context(), c); err != nil || !strings.Contains(s.Warning(), "no folder") {
		t.Errorf("a folder that cannot be used: %q %v", s.Warning(), err)
	}
}

// outside makes a folder that is not among the temporary files, which are hidden
// anyway, and that only this user can enter. Its name has a dot: the go command, which
// other tests start, looks for packages in folders without one, and fails when one vanishes.
func outside(t *testing.T) string {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(wd, ".closed-") //nolint:usetesting // not below /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
