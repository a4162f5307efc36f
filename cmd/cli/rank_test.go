package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestRankTables prints boards: rates, upper limits, cuts, and boards of older snapshots.
func TestRankTables(t *testing.T) {
	boards := func() []analytics.Board { return []analytics.Board{sitetest.Tagged(t)} }
	older := func() []analytics.Board { return []analytics.Board{sitetest.NewOlder(t).Boards[0]} }
	single := func() []analytics.Board { return []analytics.Board{sitetest.NewSingle(t).Boards[0]} }
	for name, c := range map[string]struct {
		boards         func() []analytics.Board
		by             string
		stdout, stderr string // regular expressions, one per line
	}{
		"ranks": {
			boards, "", `^category\trank\tranks\ttool\tpick rate\tinterval\tshortlist\tdefault\tfirst named\tpicks\ttrials$
^webserver\t1\t1–3\tflask\t38\.0%\t31\.1%–45\.4%\t38\.0%\t
^webserver\t4\t3–14\ttornado\tnot picked \(at most 18\.4%\)\t-\t75\.0%\t`,
			`^note: webserver: Share of answers of these 4 agents, weighted as the eval says; prompts as if drawn from tickets of web teams,
^note: webserver: unbalanced: `,
		},
		"by ecosystem": {
			boards, "tag:ecosystem", `^category\tecosystem\ttool\tpick rate\tinterval\tpicks\ttrials$
^webserver\tnode \(early\)\tflask\t37\.5%\t21\.6%–56\.7%\t42\t112$
^webserver\tpython \(early\)\tfastapi\t`, `^note: webserver: Share`,
		},
		"by a tag that no prompt has": {boards, "tag:intent", `^category\tintent\ttool`, `^note: webserver: the prompts have fewer than two values of the tag intent$`},
		"by agent":                    {boards, "agent", "^category\tagent\ttool\n^webserver\td\tflask\t37\\.5%\t17\\.7%–62\\.7%\t18\t48$", `^note: webserver: Share`},
		"an older board":              {older, "", `^webserver\t1\t1–3\tflask\t38\.0%\t31\.1%`, `^note: webserver: coverage_unknown`},
		"an older board by agent":     {older, "agent", `^webserver\td\tflask\t37\.5%\t-\t18\t48$`, ``},
		"one prompt":                  {single, "", `^webserver\t2\t1–14\ttornado\tnot picked\t-\t100\.0%\t`, `^note: webserver: single_prompt`},
	} {
		var stdout, stderr bytes.Buffer
		o := &rankOptions{app: &app{env: &Env{Stdout: &stdout, Stderr: &stderr}}, by: c.by}
		show := o.printTables
		if c.by != "" {
			show = o.printCuts
		}
		if err := show(c.boards()); err != nil {
			t.Fatal(err)
		}
		for want, got := range map[string]string{c.stdout: stdout.String(), c.stderr: stderr.String()} {
			for line := range strings.SplitSeq(want, "\n") {
				if !regexp.MustCompile("(?m)" + line).MatchString(got) {
					t.Errorf("%s: no line %s in\n%s", name, line, got)
				}
			}
		}
	}
}

// TestRankCutsAsJSON: a board by a tag is the board with these cuts alone.
func TestRankCutsAsJSON(t *testing.T) {
	whole := sitetest.Tagged(t)
	for by, n := range map[string]int{"tag:ecosystem": 2, "tag:persona": 2, "tag:intent": 0, "agent": 0} {
		var stdout bytes.Buffer
		o := &rankOptions{app: &app{env: &Env{Stdout: &stdout}}, by: by, category: "webserver", format: format{json: true}}
		if err := o.printCuts([]analytics.Board{whole}); err != nil {
			t.Fatal(err)
		}
		var got analytics.Board
		if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || len(got.Cuts) != n || len(got.Agents) != 4 || len(got.Tools) != 14 {
			t.Errorf("%s: %v, %d cuts of %d", by, err, len(got.Cuts), n)
		}
	}
}
