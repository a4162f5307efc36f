package stats

import (
	"fmt"
	"testing"
)

func TestEBH(t *testing.T) {
	tests := map[string]struct {
		e    []float64
		want string
	}{
		"none":                        {nil, "[]"},
		"all small":                   {[]float64{1, 19, 3}, "[false false false]"},
		"one at K/alpha":              {[]float64{1, 60, 3}, "[false true false]"},
		"two at K/(2 alpha)":          {[]float64{30, 30, 3}, "[true true false]"},
		"all at 1/alpha":              {[]float64{20, 20, 20}, "[true true true]"},
		"a gap below the last one":    {[]float64{25, 25, 25, 0}, "[false false false false]"},
		"one large, two not enough":   {[]float64{100, 29, 3}, "[true false false]"},
		"large ones lift a small one": {[]float64{1e9, 20, 1e9}, "[true true true]"},
	}
	for name, tt := range tests {
		if got := fmt.Sprint(EBH(tt.e, 0.05)); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}
