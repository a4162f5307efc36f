package main

import (
	"fmt"
	"time"
)

// measurePages prints how long the pages of a workspace take its owner's browser: the
// first time, when the report is made, and the least of the tries after it.
func measurePages(b *bench) error {
	g, err := newIngest(b, 1)
	if err != nil {
		return err
	}
	if err := g.flood(b.events); err != nil {
		return err
	}
	if err := g.loaded(); err != nil {
		return err
	}
	w := g.workspaces[0]
	for _, page := range []string{"", "?window=90d&model=linear", "/agents", "/agents/ChatGPT-User", "/pages", "/gaps", "/referrals", "/conversions", "/noise", "/settings"} {
		var first time.Duration
		least, size := time.Hour, 0
		for i := range b.rounds + 1 {
			began := time.Now()
			body, err := fetch(w.owner, b.base+"/workspaces/"+w.slug+page)
			if err != nil {
				return err
			}
			if i == 0 {
				first, size = time.Since(began), len(body)
				continue
			}
			least = min(least, time.Since(began))
		}
		fmt.Printf("  %-28s first %7.1f ms, then %6.1f ms %5d kB\n", page, ms(first), ms(least), size/1000)
	}
	return nil
}
