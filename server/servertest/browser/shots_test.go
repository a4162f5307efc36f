package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// shots writes a picture of every page into the folder that FIRSTPICK_SHOTS
// names.
func shots(t *testing.T, chrome context.Context) {
	folder := os.Getenv("FIRSTPICK_SHOTS")
	if folder == "" {
		t.Skip("FIRSTPICK_SHOTS names no folder for pictures")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	tour(t, chrome, func(b *tab, name string) {
		for _, l := range looks {
			b.scheme(l.scheme)
			b.size(l.width)
			file := fmt.Sprintf("%s-%d-%s.png", strings.ReplaceAll(name, " ", "-"), l.width, l.scheme)
			if err := os.WriteFile(filepath.Join(folder, file), get(b, chromedp.FullScreenshot(100)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b.scheme("light")
		b.size(1280)
	})
}
