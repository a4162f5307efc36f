package ship_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTornLine waits for the end of a line that is written in parts.
func TestTornLine(t *testing.T) {
	w := newWorld(t)
	w.write(w.log, "")
	var steps []func()
	for text := visits(0, 3); text != ""; {
		n := min(7, len(text))
		steps = append(steps, w.appends(text[:n]))
		text = text[n:]
	}
	got := w.shipped(steps...)
	if got.Lines != 3 || got.Agents != 3 {
		t.Errorf("%+v", got)
	}
	w.has(0, 3)
	w.quiet()
}

// TestRotations follows a log through all that happens to logs.
func TestRotations(t *testing.T) {
	rename := func(w *world) {
		w.do(os.Rename(w.log, w.log+".1"))
	}
	for name, script := range map[string]func(w *world) []func(){
		"rename, and the server goes on writing for a while": func(w *world) []func() {
			return []func(){
				func() { rename(w) }, func() { w.write(w.log+".1", visits(100, 120)) },
				func() { w.write(w.log, visits(120, 130)); w.write(w.log+".1", visits(130, 140)) },
				w.pass(20 * time.Second), func() { w.write(w.log+".1", visits(140, 141)) }, w.pass(time.Minute), func() {}, w.appends(visits(141, 150)),
			}
		},
		"rename and create": func(w *world) []func() {
			return []func(){func() { w.write(w.log, visits(100, 130)); rename(w); w.write(w.log, visits(130, 150)) }}
		},
		"copy and truncate": func(w *world) []func() {
			return []func(){func() {
				w.write(w.log, visits(100, 130))
				data, err := os.ReadFile(w.log)
				w.do(errors.Join(err, os.WriteFile(w.log+".1", data, 0o644), os.Truncate(w.log, 0)))
				w.write(w.log, visits(130, 150))
			}}
		},
		"copy and truncate, and it grows beyond where it was": func(w *world) []func() {
			return []func(){func() {
				w.write(w.log, visits(100, 101))
				data, err := os.ReadFile(w.log)
				w.do(errors.Join(err, os.WriteFile(w.log+".1", data, 0o644), os.Truncate(w.log, 0)))
				for n := 101; n < 150; n++ {
					w.write(w.log, strings.Replace(visit(n), "?token=secret", "?token="+strings.Repeat("s", 1000), 1))
				}
			}}
		},
		"copy, pack and truncate": func(w *world) []func() {
			return []func(){func() {
				w.write(w.log, visits(100, 130))
				w.pack(w.log, w.log+".1.gz")
				w.do(os.Truncate(w.log, 0))
			}, w.pass(3 * time.Second), w.appends(visits(130, 150))}
		},
		"renamed twice unseen": func(w *world) []func() {
			return []func(){func() {
				w.write(w.log, visits(100, 110))
				w.do(os.Rename(w.log, w.log+".2"))
				w.write(w.log+".1", visits(110, 140))
				w.write(w.log, visits(140, 150))
			}}
		},
		"renamed as Caddy does": func(w *world) []func() {
			return []func(){func() {
				w.write(w.log, visits(100, 130))
				w.do(os.Rename(w.log, filepath.Join(w.dir, "access-2026-11-21T10-00-00.000.log")))
				w.write(w.log, visits(130, 150))
			}}
		},
		"gone for a while": func(w *world) []func() {
			return []func(){func() { rename(w) }, func() {}, func() { w.do(os.Remove(w.log + ".1")) }, func() {}, w.appends(visits(100, 150))}
		},
		"rotated three times, with pauses": func(w *world) []func() {
			return []func(){
				func() { rename(w); w.write(w.log, visits(100, 110)) }, w.pass(time.Minute), func() {},
				func() {
					w.pack(w.log+".1", w.log+".2.gz")
					rename(w)
					w.write(w.log, visits(110, 120))
				}, w.pass(time.Minute), func() {},
				func() {
					w.pack(w.log+".1", w.log+".3.gz")
					rename(w)
					w.write(w.log, visits(120, 150))
				}, w.pass(time.Minute), func() {},
			}
		},
	} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, while it runs %t", name, !down), func(t *testing.T) {
				w := newWorld(t)
				w.write(w.log, visits(0, 100))
				steps := script(w)
				if down { // it sees what became of the logs when all is over
					w.shipped()
					for _, step := range steps {
						step()
					}
					w.now = w.now.Add(time.Hour)
					if name == "gone for a while" { // and then it cannot know that nothing was in it
						t.Skip("the old log is deleted")
					}
					w.shipped()
				} else {
					w.shipped(steps...)
				}
				w.hasAll(150)
				if w.svc.again > 0 {
					t.Errorf("%d events were sent again", w.svc.again)
				}
				w.quiet()
			})
		}
	}
}

// TestLogThatWasNeverSeen came and went while nobody followed, after one that was
// read to its end.
func TestLogThatWasNeverSeen(t *testing.T) {
	w := newWorld(t)
	w.write(w.log, visits(0, 10))
	w.shipped(func() { w.do(os.Rename(w.log, w.log+".1")); w.write(w.log, "") }, w.pass(time.Minute), func() {}, w.pass(time.Minute), func() {})
	w.now = w.now.Add(time.Hour)
	w.write(w.log, visits(10, 20))
	w.do(errors.Join(os.Rename(w.log+".1", w.log+".2"), os.Rename(w.log, w.log+".1")))
	w.now = w.now.Add(time.Hour)
	w.write(w.log, visits(20, 30))
	w.shipped()
	w.has(0, 30)
	if w.svc.again > 0 {
		t.Errorf("%d events were sent again", w.svc.again)
	}
	w.quiet()
}
