package mcp

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	badID     = `"code":-32600,"message":"id must be a string or an integer from -(2^53 - 1) to 2^53 - 1, written without fraction or exponent"`
	noMessage = `"code":-32600,"message":"a message needs a method, or it is a response and needs a result or an error"`
)

// TestMistakesAreExplained says which member is wrong, what it must be and what it is.
func TestMistakesAreExplained(t *testing.T) {
	h := direct(newHandler(t, nil))
	params := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":` + params + `}`
	}
	for name, tt := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"an id and nothing else":            {`{"jsonrpc":"2.0","id":1}`, 400, `"id":1,"error":{` + noMessage},
		"the name of a member is exact":     {`{"jsonrpc":"2.0","id":1,"Method":"ping"}`, 400, noMessage},
		"nothing":                           {`{}`, 400, `"jsonrpc must be the string 2.0"`},
		"another version":                   {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, `"id":1,"error":{"code":-32600,"message":"jsonrpc must be the string 2.0"`},
		"a version that is a number":        {`{"jsonrpc":2,"id":1,"method":"ping"}`, 400, `"jsonrpc must be the string 2.0"`},
		"a number":                          {`7`, 400, `"id":null,"error":{"code":-32600,"message":"a message must be an object; it is a number"`},
		"null":                              {`null`, 400, `a message must be an object; it is null`},
		"an empty batch":                    {`[]`, 400, `the batch is empty`},
		"a batch of no messages":            {`[{"jsonrpc":"2.0","id":1,"method":"ping"},7]`, 400, `message 2 of the batch: a message must be an object`},
		"a batch with an id of nothing":     {`[{"jsonrpc":"2.0","id":1}]`, 400, `message 1 of the batch: a message needs a method`},
		"a method that is a number":         {`{"jsonrpc":"2.0","id":1,"method":7}`, 400, `"id":1,"error":{"code":-32600,"message":"method must be a string; it is a number"`},
		"an id that a float would change":   {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 400, `"id":null,"error":{` + badID},
		"the first that is too large":       {`{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, 400, badID},
		"the largest":                       {`{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, 200, `"id":9007199254740991,"result":{}`},
		"the smallest":                      {`{"jsonrpc":"2.0","id":-9007199254740991,"method":"ping"}`, 200, `"id":-9007199254740991,"result":{}`},
		"an id beyond all integers":         {`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, 400, badID},
		"an id with a fraction":             {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, badID},
		"an id with an exponent":            {`{"jsonrpc":"2.0","id":1e3,"method":"ping"}`, 400, badID},
		"a negative nought":                 {`{"jsonrpc":"2.0","id":-0,"method":"ping"}`, 400, badID},
		"an id that is true":                {`{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, badID},
		"an id that is an object":           {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, badID},
		"an id of text":                     {`{"jsonrpc":"2.0","id":"1.5","method":"ping"}`, 200, `"id":"1.5","result":{}`},
		"the bad id of a call":              {`{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"getLeaderboard"}}`, 400, badID},
		"a response":                        {`{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ``},
		"a response without id":             {`{"jsonrpc":"2.0","result":{}}`, 400, `a response needs the id of its request`},
		"a response with an error of 7":     {`{"jsonrpc":"2.0","id":1,"error":7}`, 400, `error must be an object; it is a number`},
		"params that are a list":            {params("tools/list", `[]`), 200, `"id":"a","error":{"code":-32602,"message":"params must be an object; it is a list"`},
		"params of nothing":                 {params("ping", `7`), 200, `params must be an object; it is a number`},
		"a tool's name":                     {params("tools/call", `{"name":7}`), 200, `params.name must be a string; it is a number`},
		"what clients note":                 {params("tools/call", `{"name":"getLeaderboard","_meta":7}`), 200, `params._meta must be an object; it is a number`},
		"a cursor":                          {params("resources/list", `{"cursor":{}}`), 200, `params.cursor must be a string; it is an object`},
		"an address":                        {params("resources/read", `{"uri":true}`), 200, `params.uri must be a string; it is true or false`},
		"an argument of a prompt":           {params("prompts/get", `{"name":"compare","arguments":{"category":7}}`), 200, `params.arguments.* must be a string; it is a number`},
		"arguments of a prompt":             {params("prompts/get", `{"name":"compare","arguments":[]}`), 200, `params.arguments must be an object; it is a list`},
		"what is completed":                 {params("completion/complete", `{"ref":{"type":7}}`), 200, `params.ref.type must be a string; it is a number`},
		"what is completed, unknown":        {params("completion/complete", `{"ref":{"type":"x"}}`), 200, `params are not as the method takes them`},
		"a version of the protocol":         {params("initialize", `{"protocolVersion":7}`), 200, `"code":-32602,"message":"params.protocolVersion must be a string; it is a number"`},
		"a client":                          {params("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":"x"}`), 200, `params.clientInfo must be an object; it is a string`},
		"a capability that the SDK reads":   {params("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"roots":7},"clientInfo":{"name":"a","version":"1"}}`), 200, `"code":-32602`},
		"a capability that nobody knows":    {params("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"x":7},"clientInfo":{"name":"a","version":"1"}}`), 200, `"result"`},
		"a method that is not there":        {params("nope", `7`), 200, `"code":-32601`},
		"a notification is never answered":  {`{"jsonrpc":"2.0","method":"notifications/progress","params":7}`, 202, ``},
		"a batch of which one has a number": {`[{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}]`, 200, `message 1 of the batch: params must be an object`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(tt.body))
		got := w.Body.String()
		if w.Code != tt.status || !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %d %.300s, want %d %s", name, w.Code, got, tt.status, tt.want)
		}
	}
}

// FuzzMessages: whatever comes, an answer has the id that was sent or none, and says
// nothing of the types of this program.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"tools/list","params":{"cursor":7}}`, `[{"jsonrpc":"2.0","id":1,"method":"x"}]`,
		`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{"tools":7}},"clientInfo":{"name":"a","version":"1","icons":7}}}`,
		`{"jsonrpc":"2.0","id":-1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"compare"},"argument":{"name":"tool","value":7}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookupTool","arguments":{"q":{}},"_meta":{"progressToken":[]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
	} {
		f.Add(seed)
	}
	h := direct(newHandler(f, nil))
	f.Fuzz(func(t *testing.T, body string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, request(body))
		answer := w.Body.String()
		var sent map[string]any
		var got struct {
			ID    any `json:"id"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal([]byte(answer), &got) != nil { // a batch, or nothing
			return
		}
		for _, ours := range []string{"Go struct", "Go value", "unmarshal", "jsonrpc2.", "*mcp.", "map[string"} {
			if strings.Contains(got.Error.Message, ours) && !strings.Contains(body, ours) {
				t.Errorf("%q is answered %s", body, answer)
			}
		}
		if json.Unmarshal([]byte(body), &sent) == nil && got.ID != nil && cmp.Diff(sent["id"], got.ID) != "" {
			t.Errorf("%q is answered %s", body, answer)
		}
	})
}
