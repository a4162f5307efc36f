package prose

import "testing"

func TestLexiconsParse(t *testing.T) {
	all, err := Lexicons()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range all {
		t.Logf("%s: %d words", name, len(x.words))
	}
}
