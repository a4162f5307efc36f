package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/redact"
)

// key puts a key together, so that no scanner takes this file for a leak.
func key(parts ...string) string { return strings.Join(parts, "") }

const chance = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4bC6dE8"

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"a " + key("sk-", chance) + " b":                             "a [redacted:api-key] b",
		`{"k":"` + key("sk-ant-api03-", chance, "-x_y") + `"}`:       `{"k":"[redacted:api-key]"}`,
		`"\n` + key("sk-proj-", chance) + `\n"`:                      `"\n[redacted:api-key]\n"`,
		"key%3D" + key("sk-", chance):                                "key%3D[redacted:api-key]",
		`\u003d` + key("sk-", chance):                                `\u003d[redacted:api-key]`,
		"STRIPE_SECRET_KEY=" + key("sk_live_", "51H", chance):        "STRIPE_SECRET_KEY=[redacted:api-key]",
		`"` + key("sk_test_", chance[:24]) + `"`:                     `"[redacted:api-key]"`,
		key("rk_live_", chance) + ",":                                "[redacted:api-key],",
		key("whsec_", chance[:32]) + " x":                            "[redacted:webhook-secret] x",
		key("gsk_", chance[:40]):                                     "[redacted:api-key]",
		"Resend('" + key("re_", chance[:8], "_", chance[:24]) + "')": "Resend('[redacted:api-key]')",
		key("SG.", chance[:22], ".", chance[:40]) + ".":              "[redacted:api-key].",
		"?key=" + key("AIza", chance[:35]) + "&x":                    "?key=[redacted:api-key]&x",
		key("ghp_", chance[:36]):                                     "[redacted:github-token]",
		key("gho_", chance[:36]) + "\n":                              "[redacted:github-token]\n",
		key("github_pat_", chance):                                   "[redacted:github-token]",
		key("glpat-", chance[:20]):                                   "[redacted:gitlab-token]",
		key("xoxb-", "123456789012-", chance[:24]):                   "[redacted:slack-token]",
		key("AKIA", "ABCDEFGHIJ234567"):                              "[redacted:aws-key]",
		key("hf_", chance[:34]):                                      "[redacted:huggingface-token]",
		"//registry/:_authToken=" + key("npm_", chance[:36]):         "//registry/:_authToken=[redacted:npm-token]",
		key("pypi-", "AgEIcHlwaS5vcmc", chance):                      "[redacted:pypi-token]",
		"Authorization: Bearer " + chance:                            "Authorization: Bearer [redacted:bearer-token]",
		"authorization: bearer " + chance + "==,":                    "authorization: bearer [redacted:bearer-token],",
		"t=" + key("eyJ", "hbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "c2lnbmF0dXJl") + ".": "t=[redacted:jwt].",
		"x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE+/=\nabc\n-----END RSA PRIVATE KEY-----\ny":          "x\n[redacted:private-key]\ny",
		`"-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----\n"`:                       `"[redacted:private-key]\n"`,
		`"-----BEGIN PRIVATE KEY-----\nMIIE\nabc\"`:                                                   `"[redacted:private-key]\"`,
		"postgres://app:hunter2hunter@db.example.com/x":                                               "postgres://app:[redacted:password]@db.example.com/x",
		"jane.doe+x@example.co.uk, and":                                                               "[redacted:email], and",
		"Co-Authored-By: A <noreply@anthropic.com>":                                                   "Co-Authored-By: A <[redacted:email]>",
		`{"t":"\njane@example.com"}`:                                                                  `{"t":"\n[redacted:email]"}`,
		`"\u003cjane@example.com\u003e"`:                                                              `"\u003c[redacted:email]\u003e"`,
		"jane@163.com":                                                                                "[redacted:email]",
	} {
		if got := redact.New().Text(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"npm i @scope/pkg pkg@1.2.3 pkg@v1.2.3-beta.rc react@latest", "git@github.com:a/b.git", "org-1@github.com:a/b.git",
		"ssh://git@gitlab.com/a", "user@localhost", "@app.route('/')", `"\n@app.route('/')"`, "logo@2x.png", "a@b.transpose()",
		"go install golang.org/x/tools/gopls@v0.16.2", "actions/checkout@v4", "image@sha256:0123456789abcdef",
		"https://user@example.com/x", "postgres://app:$PASSWORD@db/x", "postgres://app:${PW}@db/x", "http://u:%s@host",
		"sk-learn sk-estimator-doc-link-of-some-length sk-toggleable__label-arrow", "disk-0123456789abcdefABCDEF01234567",
		"npm_config_registry npm_lifecycle_event hf_hub_download", "sk_test_...", "sk_live_YOUR_SECRET_KEY_FROM_THE_DASHBOARD", "whsec_your_endpoint_secret", "re_xxxxxxxxx_xxxxxxxxxxxxxxxxxxxx", "re_compile_all_patterns_v2_with_flags", "Bearer token", "Bearer YOUR_API_KEY_GOES_HERE", "Bearer ${API_KEY}",
		"-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----", "eyJust.a.sentence", "AKIA", "pypi-server-of-ours-with-a-long-name-and-nothing-else",
		"x@y", "@", "@@@", "a@.b", "", "---", "sk-",
	} {
		in := []byte(text)
		out := redact.New("a-secret-of-mine").Bytes(in)
		if string(out) != text {
			t.Errorf("%s\nbecame %s", text, out)
		}
		if len(in) > 0 && &out[0] != &in[0] {
			t.Errorf("%s: copied", text)
		}
	}
}

func TestKnownSecretsInEveryForm(t *testing.T) {
	for _, secret := range []string{"my-own-secret-1", `qu"ote\back/slash<&>`, "line one\nline two", "sp ace+plus%41é"} {
		r := redact.New("", "short", "12345678901", secret)
		marshalled, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := json.Marshal(string(marshalled))
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{
			"plain":             "a " + secret + " b",
			"JSON":              string(marshalled),
			"JSON in JSON":      string(twice),
			"query":             "?k=" + url.QueryEscape(secret),
			"path":              "/" + url.PathEscape(secret),
			"base64":            base64.StdEncoding.EncodeToString([]byte(secret)),
			"base64 of URLs":    base64.RawURLEncoding.EncodeToString([]byte(secret)),
			"basic, 1":          "Basic " + base64.StdEncoding.EncodeToString([]byte("a:"+secret)),
			"basic, 2":          "Basic " + base64.StdEncoding.EncodeToString([]byte("ab:"+secret)),
			"basic, 3":          "Basic " + base64.StdEncoding.EncodeToString([]byte("abc:"+secret)),
			"behind backslash":  `\` + secret,
			"base64, escaped n": `{"a":"\n` + base64.StdEncoding.EncodeToString([]byte("abc:"+secret)) + `"}`,
		} {
			out := r.Text(text)
			if !strings.Contains(out, "[redacted:secret]") || strings.Contains(out, secret) || strings.Contains(out, base64.StdEncoding.EncodeToString([]byte(secret))[:8]) {
				t.Errorf("%q, %s: %s", secret, what, out)
			}
			if json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
				t.Errorf("%q, %s: no JSON any more: %s", secret, what, out)
			}
		}
		for _, text := range []string{"short", "12345678901"} {
			if got := r.Text(text); got != text {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
}

// files returns the texts below a folder.
func files(t testing.TB, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && bytes.IndexByte(data, 0) < 0 {
			out[path] = data
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Code is full of words with @ and long names. In the code of this repository, its
// tests aside, nothing may look like a secret.
func TestOrdinaryCodeStays(t *testing.T) {
	r := redact.New("a-secret-that-is-nowhere")
	for path, data := range files(t, "../..") {
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			continue
		}
		out := r.Bytes(data)
		for i, line := range bytes.Split(out, []byte("\n")) {
			if bytes.Contains(line, []byte("[redacted:")) && !bytes.Contains(data, line) && !bytes.Contains(line, []byte("[redacted:email]")) {
				t.Errorf("%s:%d: %s", path, i+1, line)
			}
		}
	}
}

func TestRecordedStreamsStayWhole(t *testing.T) {
	const root = "../../../shared/data/agent-cli-streams"
	if _, err := os.Stat(root); err != nil {
		t.Skip("no recorded streams beside the repository")
	}
	r := redact.New("a-secret-that-is-nowhere")
	for path, data := range files(t, root) {
		out := r.Bytes(data)
		if bytes.Contains(out, []byte("[redacted:")) {
			t.Errorf("%s: %s", path, out[bytes.Index(out, []byte("[redacted:"))-20:][:60])
		}
	}
}

func FuzzJSONStaysJSON(f *testing.F) {
	f.Add(`{"a":"\njane@example.com \u003cx@example.org"}`, "a-secret")
	f.Add(`["Bearer abcdefGH12345678901", "-----BEGIN PRIVATE KEY-----\\nabc\\"]`, `sec"ret\n`)
	f.Add(`"https://a:b@c.de \\n\\`+key("sk-", chance)+`"`, "nabcdefg")
	f.Fuzz(func(t *testing.T, text, secret string) {
		r := redact.New(secret)
		out := r.Text(text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(out)) {
			t.Fatalf("%q with %q became %q", text, secret, out)
		}
		quoted, err := json.Marshal(map[string]string{"a": text + secret})
		if err != nil {
			t.Fatal(err)
		}
		if out := r.Bytes(quoted); !json.Valid(out) {
			t.Fatalf("%q with %q became %q", quoted, secret, out)
		}
		if s := strings.TrimSpace(secret); len(s) >= 8 && strings.ContainsAny(s, "ghijklmno") && strings.Contains(out, s) &&
			!strings.Contains("[redacted:secret]", s) && !strings.Contains("[redacted:email]", s) {
			t.Fatalf("%q is still in %q", s, out)
		}
	})
}

// hostile texts make a search that begins again at every byte quadratic.
func hostile() map[string]string {
	const n = 1 << 20
	rep := func(s string) string { return strings.Repeat(s, n/len(s)) }
	return map[string]string{
		"sk-": rep("sk-"), "eyJ": rep("eyJ"), "eyJ.": rep("eyJaaaaaaa."), "eyJ. short": rep("eyJ."), "@": rep("@"), "a@": rep("a@"), "aaa@": strings.Repeat("a", n) + "@",
		"@aaa": "x@" + strings.Repeat("a.", n/2), "://": rep("://:"), "a:b@": rep("://a:b@"), "BEGIN": rep("-----BEGIN PRIVATE KEY-----"),
		"-BE": rep("-----BEGIN "), "Bearer": rep("Bearer "), "bearerbearer": rep("bearer"), `\n`: rep(`\nsk-`), `\`: rep(`\`), "base64": rep("c2Vj"),
		"secret": rep("a-secret-of-mine"), "nearly": rep("a-secret-of-min"), "%": rep("%3Dsk-"), "xoxb": rep("xoxb-"), "AKIA": rep("AKIA"),
		"SG.": rep("SG."), "SG.a.": rep("SG.a."), "whsec_": rep("whsec_/"), "whsec_+": rep("+whsec_"),
	}
}

func TestHostileTextsTakeLinearTime(t *testing.T) {
	r := redact.New("a-secret-of-mine")
	for name, text := range hostile() {
		begin := time.Now()
		r.Text(text)
		if d := time.Since(begin); d > 2*time.Second { // a quadratic search takes minutes
			t.Errorf("%s: 1 MiB took %v", name, d)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	r := redact.New("a-secret-of-mine", "another-secret-of-mine-that-is-long", key("sk-", chance))
	var text bytes.Buffer
	for _, data := range files(b, "../..") {
		if !bytes.Contains(data, []byte("@")) && text.Len() < 4<<20 {
			text.Write(data)
		}
	}
	clean := r.Bytes(text.Bytes())
	if bytes.Contains(clean, []byte("[redacted:")) {
		clean = bytes.ReplaceAll(clean, []byte("[redacted:"), []byte("["))
	}
	b.SetBytes(int64(len(clean)))
	b.ReportAllocs()
	for b.Loop() {
		r.Bytes(clean)
	}
}

func BenchmarkHostile(b *testing.B) {
	r := redact.New("a-secret-of-mine")
	for name, text := range hostile() {
		b.Run(strings.ReplaceAll(name, "/", "slash"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}
