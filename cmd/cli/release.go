package cli

import (
	"cmp"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// devVersion is the version of a program that is no release.
const devVersion = "dev"

// A Build is where the program comes from. The release sets it in package main with the
// linker's -X.
type Build struct {
	Version string // of the release, without a leading v; empty: dev
	Commit  string // full or short; may be empty
	Date    string // of the commit, RFC 3339 or its date; may be empty
}

// BuildOf returns what the Go toolchain recorded in a program that no release made. Builds
// in a checkout have a commit, `go install MODULE@VERSION` has a version.
func BuildOf(info *debug.BuildInfo) Build {
	var b Build
	if v := info.Main.Version; module.IsPseudoVersion(v) {
		b.Commit, _ = module.PseudoVersionRev(v)
		if at, err := module.PseudoVersionTime(v); err == nil {
			b.Date = at.Format(time.RFC3339)
		}
	} else if semver.IsValid(v) && semver.Build(v) == "" { // not +dirty
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

// Name is the version, or dev.
func (b Build) Name() string { return cmp.Or(b.Version, devVersion) }

// Served is the version as registries of servers require it: always a semantic version.
func (b Build) Served() string { return cmp.Or(b.Version, "0.0.0-dev") }

// UserAgent is the User-Agent of requests to a firstpick server.
func (b Build) UserAgent() string { return "firstpick/" + b.Name() }

// String is the line of --version: "1.2.3 (commit abcdef1, 2026-11-23)".
func (b Build) String() string {
	var known []string
	if b.Commit != "" {
		known = append(known, "commit "+b.Commit[:min(len(b.Commit), shortCommit)])
	}
	if b.Date != "" {
		day, _, _ := strings.Cut(b.Date, "T")
		known = append(known, day)
	}
	if len(known) == 0 {
		return b.Name()
	}
	return b.Name() + " (" + strings.Join(known, ", ") + ")"
}

// shortCommit is the length of the commits that people read.
const shortCommit = 7
