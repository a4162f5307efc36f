package attribution

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var t0 = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// A story is events, one per line, at times relative to t0:
//
//	touch  -3d   v1      ChatGPT tag          a visitor, an identity, or v1/ann
//	fetch  -10m  ChatGPT /docs/start          for a person, by an assistant
//	view   -9m   v1      /docs/start          by somebody with a browser
//	view   -9m   v1      /docs/start news.example
//	crawl  -9m   v1      OpenAI
//	bind   +1h   v1/ann
//	paid   0     ann     4900 USD o1          any kind; o1 is order and ID
//	refund +2d   -       -900 USD r1 o1
type story struct {
	touches     []Touch
	bindings    []Binding
	conversions []Conversion
}

func tell(t testing.TB, text string) story {
	t.Helper()
	var s story
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		word := func(i int) string {
			if i < len(f) {
				return f[i]
			}
			return ""
		}
		at := moment(t, word(1))
		visitor, identity := who(word(2))
		touch := Touch{At: at, Visitor: visitor, Identity: identity, Host: "acme.dev", Path: "/"}
		switch f[0] {
		case "touch":
			touch.Family, touch.Evidence, touch.Class, touch.Path = word(3), word(4), "browser", cmp.Or(word(5), "/")
			s.touches = append(s.touches, touch)
		case "crawl":
			touch.Family, touch.Evidence, touch.Class = word(3), Declared, "training_crawler"
			s.touches = append(s.touches, touch)
		case "fetch":
			s.touches = append(s.touches, Touch{At: at, Host: "acme.dev", Class: "user_fetch", Family: word(2), Path: word(3)})
		case "view":
			touch.Class, touch.Path, touch.Referrer = "browser", word(3), word(4)
			s.touches = append(s.touches, touch)
		case "bind":
			s.bindings = append(s.bindings, Binding{visitor, identity, at})
		default:
			value, err := strconv.ParseInt(word(3), 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			s.conversions = append(s.conversions, Conversion{ID: word(5), Kind: f[0], Visitor: visitor, Identity: identity,
				At: at, Value: value, Currency: word(4), OrderID: word(5), RefundOf: word(6)})
		}
	}
	return s
}

func who(s string) (visitor, identity string) {
	if before, after, both := strings.Cut(s, "/"); both {
		return before, after
	}
	switch {
	case s == "-":
		return "", ""
	case strings.HasPrefix(s, "v"):
		return s, ""
	}
	return "", s
}

// moment reads "0", "-3d", "+5s" or "-90d1s".
func moment(t testing.TB, s string) time.Time {
	t.Helper()
	units := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "u": time.Microsecond}
	sum := time.Duration(0)
	for _, m := range regexp.MustCompile(`(\d+)([dhmsu])`).FindAllStringSubmatch(s, -1) {
		n, _ := strconv.Atoi(m[1])
		sum += time.Duration(n) * units[m[2]]
	}
	if strings.HasPrefix(s, "-") {
		sum = -sum
	}
	if sum == 0 && s != "0" {
		t.Fatalf("no time %q", s)
	}
	return t0.Add(sum)
}

func (s story) credit(o Options) []Credited {
	return Credit(s.conversions, s.touches, NewGraph(s.bindings), o)
}

// retell writes what was credited, one conversion per line.
func retell(credited []Credited) string {
	var b strings.Builder
	for _, c := range credited {
		fmt.Fprintf(&b, "%s:", c.ID)
		for i, s := range c.Shares {
			if i > 0 {
				b.WriteString(",")
			}
			family := s.Family
			if family == NoAgent {
				family = "nobody"
			}
			fmt.Fprintf(&b, " %s %v %d", family, s.Count, s.Value)
			if s.Evidence != "" {
				b.WriteString(" " + s.Evidence)
			}
		}
		if c.Assisted {
			b.WriteString(" assisted")
		}
		if c.Possible != nil {
			b.WriteString(" possible " + c.Possible.Family)
		}
		if c.Problem != "" {
			b.WriteString(" " + string(c.Problem))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// A worked is a story and what comes of it.
type worked struct {
	options Options
	story   string
	want    string
}

func work(t *testing.T, examples map[string]worked) {
	t.Helper()
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			got := strings.TrimSpace(retell(tell(t, e.story).credit(e.options)))
			want := regexp.MustCompile(`(?m)^\s+`).ReplaceAllString(strings.TrimSpace(e.want), "")
			if got != want {
				t.Errorf("got\n%s\nnot\n%s", got, want)
			}
		})
	}
}
