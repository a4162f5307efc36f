package dashboard

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/render"
)

type linear [3]float64 // red, green, blue

func parse(t *testing.T, hex string) linear {
	t.Helper()
	var out linear
	for i := range out {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if out[i] = v / 12.92; v > .04045 {
			out[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return out
}

func (c linear) luminance() float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] }

func contrast(a, b linear) float64 {
	light, dark := max(a.luminance(), b.luminance()), min(a.luminance(), b.luminance())
	return (light + .05) / (dark + .05)
}

// eyes are ways to see: as most do, and without one kind of cone (Machado,
// Oliveira and Fernandes 2009, severity 1).
var eyes = map[string][3]linear{
	"usual":     {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"no red":    {{.152286, 1.052583, -.204868}, {.114503, .786281, .099216}, {-.003882, -.048116, 1.051998}},
	"no green":  {{.367322, .860646, -.227968}, {.280085, .672501, .047413}, {-.011820, .042940, .968881}},
	"no yellow": {{1.255528, -.076749, -.178779}, {-.078411, .930809, .147602}, {.004733, .691367, .303900}},
}

// seen returns a colour in Oklab as those eyes see it.
func (c linear) seen(eye [3]linear) linear {
	var s linear
	for i, row := range eye {
		s[i] = min(max(row[0]*c[0]+row[1]*c[1]+row[2]*c[2], 0), 1)
	}
	l := math.Cbrt(.4122214708*s[0] + .5363325363*s[1] + .0514459929*s[2])
	m := math.Cbrt(.2119034982*s[0] + .6806995451*s[1] + .1073969566*s[2])
	n := math.Cbrt(.0883024619*s[0] + .2817188376*s[1] + .6299787005*s[2])
	return linear{.2104542553*l + .7936177850*m - .0040720468*n, 1.9779984951*l - 2.4285922050*m + .4505937099*n, .0259040371*l + .7827717662*m - .8086757660*n}
}

func distance(a, b linear) float64 {
	return 100 * math.Sqrt((a[0]-b[0])*(a[0]-b[0])+(a[1]-b[1])*(a[1]-b[1])+(a[2]-b[2])*(a[2]-b[2]))
}

var (
	token = regexp.MustCompile(`--([\w-]+): ?(?:light-dark\((#[0-9a-f]+), ?(#[0-9a-f]+)\)|var\(--([\w-]+)\))`)
	rule  = regexp.MustCompile(`((?:\.s-[\w-]+,? ?)+)\{ ?fill: ?var\(--([\w-]+)\)`)
)

// palette returns the colours of the tokens, and of the series by "s-" and their name,
// light and dark.
func palette() (schemes [2]map[string]string) {
	schemes = [2]map[string]string{{}, {}}
	for _, a := range render.Assets() {
		if !strings.Contains(a.Path, "/style-") && !strings.Contains(a.Path, "/dashboard-") {
			continue
		}
		for i, colours := range schemes {
			for _, m := range token.FindAllStringSubmatch(string(a.Body), -1) {
				colour := m[2+i]
				if m[4] != "" {
					colour = colours[m[4]]
				}
				if len(colour) == 4 {
					colour = "#" + strings.Repeat(colour[1:2], 2) + strings.Repeat(colour[2:3], 2) + strings.Repeat(colour[3:], 2)
				}
				colours[m[1]] = colour
			}
			for _, m := range rule.FindAllStringSubmatch(string(a.Body), -1) {
				for _, class := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune("., ", r) }) {
					colours[class] = colours[m[2]]
				}
			}
		}
	}
	return schemes
}

// TestColours holds the colours of charts to 3:1 against the ground on which they
// lie, which also parts the pieces of a stack (WCAG 1.4.11), and to be told apart
// by everybody. The accent is the first class. No verdict looks like a class: both are on one page.
func TestColours(t *testing.T) {
	for i, colours := range palette() {
		for group, keys := range map[string][]string{"classes": names(classes(), "s-"), "verdicts": names(verdicts(), "s-v-")} {
			if group == "classes" && colours[keys[0]] != colours["accent"] {
				t.Errorf("scheme %d: %s begin with %s, not with the accent", i, group, colours[keys[0]])
			}
			for j, key := range keys {
				if colours[key] == "" {
					t.Fatalf("scheme %d has no colour %s", i, key)
				}
				c := parse(t, colours[key])
				if got := contrast(c, parse(t, colours["card"])); got < 3 {
					t.Errorf("scheme %d: %s has a contrast of %.2f to the ground", i, key, got)
				}
				for _, class := range names(classes(), "s-") {
					if d := distance(c.seen(eyes["usual"]), parse(t, colours[class]).seen(eyes["usual"])); group == "verdicts" && d < 10 {
						t.Errorf("scheme %d: %s and %s look alike (%.1f)", i, key, class, d)
					}
				}
				for _, other := range keys[:j] {
					for eye, matrix := range eyes {
						if d := distance(c.seen(matrix), parse(t, colours[other]).seen(matrix)); d < 10 {
							t.Errorf("scheme %d, %s: eyes with %s see %s and %s alike (%.1f)", i, group, eye, key, other, d)
						}
					}
				}
			}
		}
	}
}

func names(terms []term, before string) []string {
	var out []string
	for _, t := range terms {
		out = append(out, before+t.Key)
	}
	return out
}
