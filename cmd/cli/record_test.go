package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPrintRecord(t *testing.T) {
	doc := json.RawMessage(`{"id":"ws_1","claimed":false,"scopes":["a","b"],"limits":{"keys":3,"note":null},"keys":[{"label":"ci","kind":"secret"},{"label":"x\u001b[2J","last":"now"}],"none":[]}`)
	for _, tt := range []struct {
		tty, json bool
		want      string
	}{
		{true, false, "field        value\nid           ws_1\nclaimed      no\nscopes       a, b\nlimits.keys  3\nlimits.note  -\nnone         -\n\nkeys\nlabel  kind    last\nci     secret  -\n"},
		{true, true, "{\n  \"id\": \"ws_1\","},
		{false, false, "{\n  \"id\": \"ws_1\","},
	} {
		var out strings.Builder
		if err := printRecord(&Env{Stdout: &out, StdoutIsTTY: tt.tty}, doc, tt.json); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), tt.want) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%+v:\n%s\nwant\n%s", tt, out.String(), tt.want)
		}
	}
}
