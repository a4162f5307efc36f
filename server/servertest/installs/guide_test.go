package installs_test

import (
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/setup"
)

// block finds the shell commands of a guide.
var block = regexp.MustCompile("(?s)```sh\n(.*?)```")

// answered is a comment that lists the fields of the answer to the command above.
var answered = regexp.MustCompile(`^# answers (?:201: )?(.*)$`)

// A shell runs commands of a guide one by one, with the answers of those before.
type shell struct {
	t     *testing.T
	known *strings.Replacer
}

func (s *shell) run(commands string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), program(s.t, "sh"), "-ec", s.known.Replace(commands)).Output()
	if err != nil {
		s.t.Fatalf("%v: %s", err, commands)
	}
	return string(out)
}

// An agent that has nothing but /setup.md gets a key by its first step, with the
// fields that it names, and proves a visit by its fifth.
func TestGuideLeadsFromNothingToAProof(t *testing.T) {
	program(t, "curl")
	g := newGate(t)
	first := &shell{t, strings.NewReplacer()}
	guide := first.run("curl -sf " + g.s.URL + "/setup.md")
	blocks := block.FindAllStringSubmatch(guide, -1)
	if len(blocks) < 3 {
		t.Fatalf("the guide has %d blocks of commands", len(blocks))
	}
	values := map[string]string{}
	var head, command string
	for line := range strings.Lines(blocks[0][1]) {
		line = strings.TrimSpace(line)
		fields := answered.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "FP="):
			head = line + "\n"
		case fields == nil:
			command = line
		default:
			s := &shell{t, strings.NewReplacer("IDENTITY_ASSERTION", values["identity_assertion"], "ACCESS_TOKEN", values["access_token"])}
			var answer map[string]any
			if err := json.Unmarshal([]byte(s.run(head+command)), &answer); err != nil {
				t.Fatalf("%s: %v", command, err)
			}
			for name, v := range answer {
				values[name], _ = v.(string)
			}
			told(t, command, fields[1], answer)
		}
	}
	// The site of the proof is the service itself, which reports nobody: the count stays.
	s := &shell{t, strings.NewReplacer("https://yoursite.example", g.s.URL, "sleep 5", "")}
	proof := s.run(head + "FIRSTPICK_KEY=" + values["key"] + "\n" + blocks[2][1])
	if n := strings.Count(proof, `"kind":"secret","lastEventAt":null,"eventsToday":0,"eventsTotal":0}`); n != 2 || !strings.Contains(guide, `"kind":"secret","lastEventAt":null,"eventsToday":0,"eventsTotal":0}`) {
		t.Errorf("the proof answers\n%s", proof)
	}
}

// told checks that the fields that a guide lists are those of an answer.
func told(t *testing.T, command, list string, answer map[string]any) {
	t.Helper()
	var want []string
	for field := range strings.SplitSeq(list, ", ") {
		name, _, _ := strings.Cut(field, " ") // what follows is a value
		name, _, _ = strings.Cut(name, ".")
		want = append(want, name)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(answer)); !slices.Equal(got, want) {
		t.Errorf("%s\nanswers %v, and the guide tells of %v", command, got, want)
	}
}

// What recipes have typed works as it stands.
func TestCommandsOfRecipes(t *testing.T) {
	program(t, "curl")
	for slug, c := range map[string]struct {
		kind  string
		block int // of the recipe
		times []string
	}{
		"vercel":      {"log", 0, []string{`{"accepted":1,"duplicates":0`, `{"accepted":0,"duplicates":1`}},
		"conversions": {"secret", 0, []string{`{"accepted":1,"duplicates":0`, `{"accepted":0,"duplicates":1`}},
	} {
		t.Run(slug, func(t *testing.T) {
			g := newGate(t)
			g.s.Clock.Add(time.Since(g.s.Clock.Now())) // the commands name the time
			key := g.newKey(t, c.kind)
			stack, ok := setup.Find(slug)
			if !ok {
				t.Fatal("no such recipe")
			}
			blocks := block.FindAllStringSubmatch(stack.Recipe(g.s.URL), -1)
			s := &shell{t, strings.NewReplacer("log_live_...", key, "$FIRSTPICK_KEY", key)}
			for _, want := range c.times {
				if got := s.run(blocks[c.block][1]); !strings.HasPrefix(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
}
