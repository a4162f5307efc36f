package attribution

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWhoseAreTheTouches(t *testing.T) {
	work(t, map[string]worked{
		"a conversion with only a visitor needs no identify": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
		"a touch without a visitor, by the person": {story: `
			touch -1s ann Claude declared
			signup 0 ann 0 - o1`,
			want: `o1: Claude 1 0 declared`},
		"an identify that comes after the conversion": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 ann 4900 USD o1
			bind +9d v1/ann`,
			want: `o1: ChatGPT 1 4900 tag`},
		"no identify at all": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 ann 4900 USD o1`,
			want: `o1: nobody 1 4900`},
		"the first touch was on another device": {story: `
			touch -9d v2 Claude referrer
			touch -3d v1 ChatGPT tag
			bind -8d v2/ann
			bind -2d v1/ann
			paid 0 v1/ann 4900 USD o1`,
			want: `o1: Claude 1 4900 referrer`},
		"a visitor with one person is that person": {story: `
			touch -9d v2 Claude referrer
			bind -8d v2/ann
			bind -2d v1/ann
			paid 0 v1 4900 USD o1`,
			want: `o1: Claude 1 4900 referrer`},
		"a visitor with two persons is nobody in particular": {story: `
			touch -9d v2 Claude referrer
			touch -1d v1 ChatGPT tag
			bind -8d v2/ann
			bind -2d v1/ann
			bind -2d v1/bob
			paid 0 v1 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
		"persons do not merge through a visitor": {story: `
			touch -9d v1 Claude referrer
			touch -3d v2 ChatGPT tag
			touch -4d ann Perplexity tag
			bind -8d v1/ann
			bind -2d v2/ann
			bind -2d v2/bob
			paid 0 bob 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
		"five persons share a device": {story: `
			touch -3d v1 ChatGPT tag
			bind -2d v1/ann
			bind -2d v1/b
			bind -2d v1/c
			bind -2d v1/d
			bind -2d v1/e
			paid 0 ann 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
		"six are a shared device, even with the device in the conversion": {story: `
			touch -3d v1 ChatGPT tag
			touch -2d v1/ann Claude tag
			bind -2d v1/ann
			bind -2d v1/b
			bind -2d v1/c
			bind -2d v1/d
			bind -2d v1/e
			bind +2d v1/f
			paid 0 ann 4900 USD by-name
			paid 1s v1/ann 4900 USD by-both
			paid 2s v1 4900 USD by-device`,
			want: `by-name: Claude 1 4900 tag
			by-both: Claude 1 4900 tag
			by-device: ChatGPT 1 4900 tag`},
		"a sixth person longer ago than the lookback does not count": {story: `
			touch -3d v1 ChatGPT tag
			bind -2d v1/ann
			bind -2d v1/b
			bind -2d v1/c
			bind -2d v1/d
			bind -2d v1/e
			bind -91d v1/f
			paid 0 ann 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
		"a binding older than the lookback": {story: `
			touch -3d v1 ChatGPT tag
			bind -90d1s v1/ann
			bind -90d v1/bob
			paid 0 ann 4900 USD o1
			paid 1u bob 4900 USD o2
			paid -1u bob 4900 USD o0`,
			want: `o0: ChatGPT 1 4900 tag
			o1: nobody 1 4900
			o2: nobody 1 4900`},
		"the same binding again keeps it alive": {story: `
			touch -3d v1 ChatGPT tag
			bind -100d v1/ann
			bind -1d v1/ann
			bind -95d v1/ann
			paid 0 ann 4900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag`},
	})
}

func TestWhichTouchesCompete(t *testing.T) {
	work(t, map[string]worked{
		"the lookback's edge": {story: `
			touch -90d v1 ChatGPT tag
			touch -90d1u v2 ChatGPT tag
			paid 0 v1 1 USD in
			paid 1u v2 1 USD out`,
			want: `in: ChatGPT 1 1 tag
			out: nobody 1 1`},
		"a shorter lookback": {options: Options{Lookback: 30 * 24 * time.Hour}, story: `
			touch -31d v1 ChatGPT tag
			touch -29d v1 Claude tag
			paid 0 v1 1 USD o1`,
			want: `o1: Claude 1 1 tag`},
		"a lookback below the bounds is seven days": {options: Options{Lookback: time.Hour}, story: `
			touch -7d v1 ChatGPT tag
			paid 0 v1 1 USD o1`,
			want: `o1: ChatGPT 1 1 tag`},
		"five seconds after the conversion": {story: `
			touch +5s v1 ChatGPT tag
			touch +5s1u v2 ChatGPT tag
			paid 0 v1 1 USD in
			paid 1u v3 1 USD out
			bind 0 v2/bob
			paid 0 bob 1 USD later`,
			want: `in: ChatGPT 1 1 tag
			later: nobody 1 1
			out: nobody 1 1`},
		"crawls never": {story: `
			crawl -3d v1 OpenAI
			touch -1d v1 Claude tag
			paid 0 v1 1 USD o1`,
			want: `o1: Claude 1 1 tag`},
		"a touch without evidence never": {story: `
			touch -3d v1 ChatGPT
			paid 0 v1 1 USD o1`,
			want: `o1: nobody 1 1`},
		"an agent of no known family is still an agent": {story: `
			touch -3d v1
			touch -2d v1 ? tag
			paid 0 v1 1 USD o1`,
			want: `o1: ? 1 1 tag`},
		"at one time the stronger evidence is first": {story: `
			touch -3d v1 ChatGPT referrer
			touch -3d v1 Perplexity signed_link
			touch -3d v1 Claude tag
			paid 0 v1 1 USD o1`,
			want: `o1: Perplexity 1 1 signed_link`},
		"and last, too": {options: Options{Model: Last}, story: `
			touch -4d v1 Gemini signed_link
			touch -3d v1 ChatGPT referrer
			touch -3d v1 Perplexity declared
			touch -3d v1 Claude signature
			paid 0 v1 1 USD o1`,
			want: `o1: Claude 1 1 signature`},
		"at one time and of one evidence the name decides": {story: `
			touch -3d v1 Perplexity tag
			touch -3d v1 ChatGPT tag
			paid 0 v1 1 USD o1`,
			want: `o1: ChatGPT 1 1 tag`},
		"people compete if asked": {options: Options{IncludeNonAgent: true}, story: `
			view -4d v1 /pricing news.example
			touch -3d v1 ChatGPT tag
			paid 0 v1 1 USD o1`,
			want: `o1: nobody 1 1 assisted`},
		"people compete if asked, in shares": {options: Options{IncludeNonAgent: true, Model: Linear}, story: `
			view -4d v1 /pricing news.example
			touch -3d v1 ChatGPT tag
			paid 0 v1 3 USD o1`,
			want: `o1: nobody 0.5 2, ChatGPT 0.5 1 tag`},
		"but not unless": {story: `
			view -4d v1 /pricing news.example
			touch -3d v1 ChatGPT tag
			paid 0 v1 1 USD o1`,
			want: `o1: ChatGPT 1 1 tag`},
	})
}

func TestModels(t *testing.T) {
	families := strings.Fields("A B C D E")
	for _, c := range []struct {
		model   Model
		touches int
		want    string
	}{
		{First, 3, "A 1 100 tag"},
		{Last, 3, "C 1 100 tag"},
		{"", 2, "A 1 100 tag"},
		{Linear, 1, "A 1 100 tag"},
		{Linear, 3, "A 0.334 34 tag, B 0.333 33 tag, C 0.333 33 tag"},
		{Position, 1, "A 1 100 tag"},
		{Position, 2, "A 0.5 50 tag, B 0.5 50 tag"},
		{Position, 3, "A 0.4 40 tag, B 0.2 20 tag, C 0.4 40 tag"},
		{Position, 5, "A 0.4 40 tag, B 0.067 7 tag, C 0.067 7 tag, D 0.066 6 tag, E 0.4 40 tag"},
	} {
		text := "paid 0 v1 100 USD o1\n"
		for i := range c.touches {
			text += fmt.Sprintf("touch -%dh v1 %s tag\n", 9-i, families[i])
		}
		got := retell(tell(t, text).credit(Options{Model: c.model}))
		if want := "o1: " + c.want + "\n"; got != want {
			t.Errorf("%s of %d: %s not %s", c.model, c.touches, got, want)
		}
	}
	work(t, map[string]worked{
		"touches of one family are one share, with its strongest evidence": {options: Options{Model: Linear}, story: `
			touch -3d v1 ChatGPT declared
			touch -2d v1 Claude tag
			touch -1d v1 ChatGPT referrer
			paid 0 v1 100 USD o1`,
			want: `o1: ChatGPT 0.667 67 referrer, Claude 0.333 33 tag`},
		"a touch that its visitor and its person both have counts once": {options: Options{Model: Linear}, story: `
			touch -3d v1/ann ChatGPT tag
			touch -2d v1 Claude tag
			bind -2d v1/ann
			paid 0 v1/ann 100 USD o1`,
			want: `o1: ChatGPT 0.5 50 tag, Claude 0.5 50 tag`},
		"position at one time has two ends": {options: Options{Model: Position}, story: `
			touch -3d v1 A tag
			touch -3d v1 B tag
			touch -3d v1 C tag
			paid 0 v1 100 USD o1`,
			want: `o1: A 0.4 40 tag, B 0.2 20 tag, C 0.4 40 tag`},
		"less money than families": {options: Options{Model: Linear}, story: `
			touch -3d v1 A tag
			touch -2d v1 B tag
			touch -1d v1 C tag
			paid 0 v1 2 JPY o1`,
			want: `o1: A 0.334 1 tag, B 0.333 1 tag, C 0.333 0 tag`},
	})
	if _, err := ParseModel("best"); err == nil {
		t.Error("there is a model best")
	}
	for _, s := range []string{"first", "last", "linear", "position"} {
		if m, err := ParseModel(s); err != nil || string(m) != s {
			t.Errorf("%s: %s, %v", s, m, err)
		}
	}
}

func TestRefunds(t *testing.T) {
	work(t, map[string]worked{
		"whole": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1
			refund +2d - -4900 USD r1 o1`,
			want: `o1: ChatGPT 1 4900 tag
			r1: ChatGPT 1 -4900 tag`},
		"in parts, of three families, down to nothing": {options: Options{Model: Linear}, story: `
			touch -3d v1 A tag
			touch -2d v1 B tag
			touch -1d v1 C tag
			paid 0 v1 100 USD o1
			refund +1d - -1 USD r1 o1
			refund +2d - -50 USD r2 o1
			refund +3d - -49 USD r3 o1`,
			want: `o1: A 0.334 34 tag, B 0.333 33 tag, C 0.333 33 tag
			r1: A 0.334 -1 tag, B 0.333 0 tag, C 0.333 0 tag
			r2: A 0.334 -17 tag, B 0.333 -17 tag, C 0.333 -16 tag
			r3: A 0.334 -16 tag, B 0.333 -16 tag, C 0.333 -17 tag`},
		"of an uncredited order": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v2 4900 USD o1
			refund +2d v1 -900 USD r1 o1`,
			want: `o1: nobody 1 4900
			r1: nobody 1 -900`},
		"of an order that is not there": {story: `
			refund +2d v1 -900 USD r1 o1`,
			want: `r1: nobody 1 -900 no_order`},
		"in another currency": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1
			refund +2d v1 -900 EUR r1 o1`,
			want: `o1: ChatGPT 1 4900 tag
			r1: nobody 1 -900 other_currency`},
		"larger than the order, and another after it": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1
			refund +2d v1 -5000 USD r1 o1
			refund +3d v1 -1 USD r2 o1`,
			want: `o1: ChatGPT 1 4900 tag
			r1: ChatGPT 1 -4900 tag exceeds_order
			r2: ChatGPT 1 0 tag exceeds_order`},
		"with the order's own id": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1
			refund +2d - -900 USD o1`,
			want: `o1: ChatGPT 1 4900 tag
			o1: ChatGPT 1 -900 tag`},
		"of the paid one among those with its id": {story: `
			touch -3d v1 ChatGPT tag
			trial -1d v2 9900 USD o1
			paid 0 v1 4900 USD o1
			refund +2d - -900 USD r1 o1`,
			want: `o1: nobody 1 9900
			o1: ChatGPT 1 4900 tag
			r1: ChatGPT 1 -900 tag`},
		"that gives": {story: `
			touch -3d v1 ChatGPT tag
			paid 0 v1 4900 USD o1
			refund +2d - 900 USD r1 o1`,
			want: `o1: ChatGPT 1 4900 tag
			r1: nobody 1 0 not_negative`},
		"of nothing": {story: `
			touch -3d v1 ChatGPT tag
			signup 0 v1 0 USD o1
			refund +2d - -900 USD r1 o1`,
			want: `o1: ChatGPT 1 0 tag
			r1: ChatGPT 1 0 tag nothing_to_refund`},
		"of an order before the window, part of which was taken back before it too": {options: Options{From: t0}, story: `
			touch -93d v1 ChatGPT tag
			paid -9d v1 4900 USD o1
			paid -9d v1 4900 USD o2
			refund -8d - -4800 USD r0 o1
			refund +2d - -900 USD r1 o1`,
			want: `r1: ChatGPT 1 -100 tag exceeds_order`},
	})
}

func TestWindow(t *testing.T) {
	s := tell(t, `
		paid -1u v1 1 USD before
		paid 0 v1 1 USD first
		paid 1h v1 1 USD after`)
	got := retell(s.credit(Options{From: t0, To: t0.Add(time.Hour)}))
	if got != "first: nobody 1 1\n" {
		t.Error(got)
	}
}

// A token that a sender gives to everybody costs no more than others.
func TestManyTouches(t *testing.T) {
	text := "paid 0 v1/ann 1 USD o1\nbind 0 v1/ann\n"
	for i := range 150 {
		text += fmt.Sprintf("touch -%dm v1 A%d tag\ntouch -%dm v1/ann B%d tag\n", 1000-i, i, 1000-i, i)
	}
	c := tell(t, text).credit(Options{Model: Linear})[0]
	if !c.Truncated || len(c.Touches) != MaxTouches || len(c.Shares) != MaxTouches {
		t.Fatalf("%v: %d touches, %d shares", c.Truncated, len(c.Touches), len(c.Shares))
	}
	for i, want := range map[int]string{0: "A0", 1: "B0", 99: "B49", 100: "A100", 199: "B149"} {
		if got := c.Touches[i].Family; got != want {
			t.Errorf("touch %d is %s, not %s", i, got, want)
		}
	}
}

// The ends of many lists are those of the whole.
func TestManyDevices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var s story
	for v := range 40 {
		s.bindings = append(s.bindings, Binding{fmt.Sprint("v", v), "ann", t0})
	}
	for i := range 900 {
		touch := Touch{ID: fmt.Sprint(i), Visitor: fmt.Sprint("v", r.IntN(40)), At: t0.Add(-time.Duration(r.IntN(99)) * time.Hour), Evidence: Tag, Family: "A"}
		if r.IntN(2) == 0 {
			touch.Identity = "ann"
		}
		s.touches = append(s.touches, touch)
	}
	s.conversions = []Conversion{{Identity: "ann", At: t0}}
	all := slow(s, s.conversions[0], Options{})
	want := slices.Concat(all[:MaxTouches/2], all[len(all)-MaxTouches/2:])
	got := s.credit(Options{})[0]
	if !got.Truncated || !slices.EqualFunc(got.Touches, want, func(a *Touch, b Touch) bool { return *a == b }) {
		t.Errorf("%v, %d touches", got.Truncated, len(got.Touches))
	}
}
