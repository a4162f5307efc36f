package snapshotview_test

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestNamedPutsUsedToolsFirst: among equal matches the tools that agents picked or used come
// first, and a better match comes before them.
func TestNamedPutsUsedToolsFirst(t *testing.T) {
	s := sitetest.NewObserved(t)
	named, _ := s.Named("fl")
	if at := slices.Index(named, "flagsmith"); at < 1 || named[0] != "flask" {
		t.Errorf("fl: %q", named)
	}
	if named, near := s.Named("flsk"); len(named) != 0 || !slices.Contains(near, "flask") {
		t.Errorf("flsk: %q, near %q", named, near)
	}
	if named, _ = s.Named("prisma"); len(named) < 2 || named[0] != "prisma" || named[1] != "prisma-postgres" {
		t.Errorf("prisma: %q", named)
	}
}
