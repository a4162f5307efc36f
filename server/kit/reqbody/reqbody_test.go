package reqbody

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

type example struct {
	Kind    string   `json:"kind"`
	Origins []string `json:"origins"`
	Budget  *float64 `json:"budget"`
	Version *int     `json:"version"`
	Sure    bool     `json:"sure"`
	Inner   struct {
		Names []string `json:"names"`
	} `json:"inner"`
}

// TestMistakesAreExplained in the words of JSON, without values.
func TestMistakesAreExplained(t *testing.T) {
	for name, tt := range map[string]struct{ body, want, strict string }{
		"nothing":                 {body: " ", want: "The request body is empty. Send a JSON object."},
		"a list":                  {body: `[]`, want: "The request body must be a JSON object; it is a list."},
		"null":                    {body: `null`, want: "The request body must be a JSON object; it is null."},
		"a broken object":         {body: `{"kind":"secret"`, want: "The request body is not valid JSON: it ends too early."},
		"a wrong byte":            {body: `{"kind":secret}`, want: "The request body is not valid JSON: byte 9 does not belong there."},
		"something behind it":     {body: `{}{}`, want: "The request body is not valid JSON: byte 3 does not belong there."},
		"a string":                {body: `{"kind":7}`, want: "kind must be a string; it is a number."},
		"a list of strings":       {body: `{"origins":"x"}`, want: "origins must be a list of strings; it is a string."},
		"an entry of a list":      {body: `{"origins":["x",{}]}`, want: "origins must be a list of strings; one of its entries is an object."},
		"a number":                {body: `{"budget":"5"}`, want: "budget must be a number; it is a string."},
		"a whole number":          {body: `{"version":1.5}`, want: "version must be a whole number; it has a fraction, or is too large."},
		"a number beyond numbers": {body: `{"budget":1e999}`, want: "budget is a number that is too large."},
		"a switch":                {body: `{"sure":[]}`, want: "sure must be true or false; it is a list."},
		"an object":               {body: `{"inner":true}`, want: "inner must be an object; it is true or false."},
		"a member of a member":    {body: `{"inner":{"names":7}}`, want: "inner.names must be a list of strings; it is a number."},
		"whatever is not known":   {body: `{"other":1}`, strict: "The request body has a member that this path does not take. It takes kind, origins, budget, version, sure and inner."},
		"what is right":           {body: `{"kind":"a","origins":null,"budget":1,"version":2,"sure":true,"inner":{"names":[]}} `},
		"a value is not repeated": {body: `{"budget":"sk-secret"}`, want: "budget must be a number; it is a string."},
	} {
		for kind, read := range map[string]func() error{
			"lenient": func() error { return Object(httptest.NewRequest("POST", "/", strings.NewReader(tt.body)), &example{}) },
			"strict": func() error {
				return StrictObject(httptest.NewRequest("POST", "/", strings.NewReader(tt.body)), &example{})
			},
		} {
			want := tt.want
			if kind == "strict" && tt.strict != "" {
				want = tt.strict
			}
			got := ""
			if err := read(); err != nil {
				e := apierr.Of(err)
				got = e.Description
				if e.Status != 400 || e.Code != "invalid_request" || e.Reason != "malformed_body" {
					t.Errorf("%s, %s: %d %s %s", name, kind, e.Status, e.Code, e.Reason)
				}
			}
			if got != want {
				t.Errorf("%s, %s: %q, want %q", name, kind, got, want)
			}
		}
	}
}

func TestSizesAndEncodings(t *testing.T) {
	for name, tt := range map[string]struct {
		size     int
		encoding string
		want     int
	}{
		"as large as may be": {1024, "", 0}, "larger": {1025, "", 413}, "compressed": {10, "gzip", 415}, "compressed twice": {10, "identity, br", 415}, "not compressed": {10, "identity", 0},
	} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("a", tt.size)))
		if tt.encoding != "" {
			r.Header.Set("Content-Encoding", tt.encoding)
		}
		data, err := Read(r, 1024)
		status := 0
		if err != nil {
			status = apierr.Of(err).Status
		}
		if status != tt.want || err == nil && len(data) != tt.size {
			t.Errorf("%s: %d bytes, %d, want %d", name, len(data), status, tt.want)
		}
	}
}

// FuzzObject: a body is read, or its mistake is explained in words that fit an error
// description and tell nothing of the types of this program.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{"kind":7}`, `{"origins":["a",7]}`, `{"inner":{"names":{}}}`, `{"budget":1e999}`, `{"ORIGINS":1}`, "{\"a\":\"\xff\"", `{"version":99999999999999999999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		err := StrictObject(httptest.NewRequest("POST", "/", strings.NewReader(body)), &example{})
		if err == nil {
			return
		}
		e := apierr.Of(err)
		if e.Status < 400 || e.Status >= 500 || e.Description == "" || strings.ContainsAny(e.Description, "\"\\") {
			t.Errorf("%q: %d %q", body, e.Status, e.Description)
		}
		for _, ours := range []string{"[]", "float64", "example", "struct", "Go ", " int"} {
			if strings.Contains(e.Description, ours) {
				t.Errorf("%q: %q", body, e.Description)
			}
		}
	})
}
