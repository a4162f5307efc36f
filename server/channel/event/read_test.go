package event_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
)

// secret returns the options of a request with a secret key.
func secret() event.Options {
	return event.Options{Key: event.KindSecret, ReceivedAt: arrival()}
}

func read(t testing.TB, body string, o event.Options) event.Batch {
	t.Helper()
	batch, err := event.Read(strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	if batch.Seen != len(batch.Inputs)+len(batch.Refusals) {
		t.Fatalf("saw %d events, took %d and refused %d", batch.Seen, len(batch.Inputs), len(batch.Refusals))
	}
	return batch
}

// one reads a body that holds one good event.
func one(t testing.TB, body string, o event.Options) event.Input {
	t.Helper()
	batch := read(t, body, o)
	if len(batch.Inputs) != 1 || len(batch.Refusals) != 0 {
		t.Fatalf("%d inputs, refusals %+v: %s", len(batch.Inputs), batch.Refusals, body)
	}
	return batch.Inputs[0]
}

func warned(b event.Batch) []string {
	var codes []string
	for _, w := range b.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func gz(t testing.TB, body []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write(body); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Every form of a body says the same.
func TestFormsOfABodyAreOne(t *testing.T) {
	one, two := `{"type":"touch","id":"a","path":"/a"}`, `{"type":"identify","id":"b","visitorToken":"v","userRef":"u"}`
	for name, c := range map[string]struct {
		media, encoding, body string
		want                  string
	}{
		"an object with events":        {"application/json", "", `{"events":[` + one + `,` + two + `]}`, "a b"},
		"with a charset":               {"application/json; charset=UTF-8", "", `{"events":[` + one + `]}`, "a"},
		"an array":                     {"application/json", "", `[` + one + `,` + two + `]`, "a b"},
		"one event":                    {"application/json", "", one, "a"},
		"events that is one event":     {"application/json", "", `{"events":` + one + `}`, "a"},
		"events given twice":           {"application/json", "", `{"events":[` + one + `],"events":[` + two + `]}`, "b"},
		"no events":                    {"application/json", "", `{"events":[]}`, ""},
		"white space and a byte order": {"application/json", "", "\xEF\xBB\xBF \n\t[" + one + " , \r\n" + two + "\n] \n", "a b"},
		"lines":                        {"application/x-ndjson", "", one + "\n\n" + two + "\r\n", "a b"},
		"one line":                     {"application/x-ndjson", "", one, "a"},
		"a beacon":                     {"text/plain;charset=UTF-8", "", `{"events":[` + one + `]}`, "a"},
		"no media type":                {"", "", one, "a"},
		"gzip":                         {"application/json", "gzip", string(gz(t, []byte(`[`+one+`]`))), "a"},
		"gzip of two parts":            {"application/json", "GZIP", string(gz(t, []byte(`[`))) + string(gz(t, []byte(one+`]`))), "a"},
		"escaped names":                {"application/json", "", `{"\u0074ype":"\u0074ouch","id":"a","path":"/"}`, "a"},
	} {
		o := secret()
		o.MediaType, o.Encoding = c.media, c.encoding
		var got []string
		for _, in := range read(t, c.body, o).Inputs {
			got = append(got, in.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: events %q, not %q", name, got, c.want)
		}
	}
}

func TestWholeBodiesThatAreRefused(t *testing.T) {
	many := "[" + strings.Repeat("0,", event.MaxEvents) + "0]"
	for name, c := range map[string]struct {
		body string
		o    event.Options
		want error
		part string
	}{
		"nothing":             {"", event.Options{}, event.ErrUnreadable, "at byte 0"},
		"a number":            {"1", event.Options{}, event.ErrUnreadable, "at byte 0"},
		"not JSON":            {`{"events":[{]}`, event.Options{}, event.ErrUnreadable, "at byte 12"},
		"broken off":          {`{"events":[{"type":"touch"`, event.Options{}, event.ErrUnreadable, "at byte 26"},
		"two values":          {`{"type":"touch","path":"/"} {}`, event.Options{}, event.ErrUnreadable, "x-ndjson"},
		"a trailing comma":    {`[{"type":"touch","path":"/"},]`, event.Options{}, event.ErrUnreadable, "at byte 29"},
		"events of no array":  {`{"events":"x"}`, event.Options{}, event.ErrUnreadable, "must be an array"},
		"too many events":     {many, event.Options{}, event.ErrTooLarge, "1000 events"},
		"too many lines":      {strings.Repeat("{}\n", 1001), event.Options{MediaType: "application/x-ndjson"}, event.ErrTooLarge, "1000 events"},
		"too many in a drain": {many, event.Options{Format: event.FormatVercel}, event.ErrTooLarge, "1000 events"},
		"too many bytes":      {strings.Repeat(" ", event.MaxBody+1), event.Options{}, event.ErrTooLarge, "1048576 bytes"},
		"a gzip bomb":         {string(gz(t, make([]byte, 64<<20))), event.Options{Encoding: "gzip"}, event.ErrTooLarge, "1048576 bytes"},
		"not gzip":            {"[]", event.Options{Encoding: "gzip"}, event.ErrUnreadable, "not gzip"},
		"gzip broken off":     {string(gz(t, []byte("[]"))[:12]), event.Options{Encoding: "gzip"}, event.ErrUnreadable, "unexpected end"},
		"another encoding":    {"[]", event.Options{Encoding: "br"}, event.ErrEncoding, "gzip"},
		"a form":              {"a=b", event.Options{MediaType: "application/x-www-form-urlencoded"}, event.ErrUnsupportedMedia, "application/json"},
		"another charset":     {"[]", event.Options{MediaType: "application/json; charset=utf-16"}, event.ErrUnsupportedMedia, ""},
		"a broken media type": {"[]", event.Options{MediaType: "/;"}, event.ErrUnsupportedMedia, ""},
		"an unknown format":   {"[]", event.Options{Format: "fastly"}, event.ErrUnknownFormat, "vercel"},
	} {
		_, err := event.Read(strings.NewReader(c.body), c.o)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("connection lost")
	if _, err := event.Read(iotest.ErrReader(broken), secret()); !errors.Is(err, broken) {
		t.Errorf("an error of the connection: %v", err)
	}
}

// No more is read of an endless body than its limit, packed or not.
func TestReadingStopsAtTheLimit(t *testing.T) {
	for _, c := range []struct{ encoding, unit string }{{"", " "}, {"gzip", string(gz(t, nil))}} {
		src := &endless{unit: c.unit}
		_, err := event.Read(src, event.Options{Encoding: c.encoding})
		if err == nil || src.read > 2*event.MaxBody {
			t.Errorf("%q: read %d bytes, %v", c.encoding, src.read, err)
		}
	}
}

type endless struct {
	unit string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.unit[(e.read+i)%len(e.unit)]
	}
	e.read += len(p)
	return len(p), nil
}

var _ io.Reader = &endless{}

// Each rule of an event, by the code and the field that a sender sees.
func TestEventsThatAreRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 9) + "1" + strings.Repeat("}", 9)
	for name, c := range map[string]struct{ event, want string }{
		"no object":             {`7`, "invalid_event "},
		"null":                  {`null`, "invalid_event "},
		"no type":               {`{}`, "missing_type type"},
		"a type of null":        {`{"type":null}`, "missing_type type"},
		"an unknown type":       {`{"type":"visit"}`, "unknown_type type"},
		"a boolean for a text":  {`{"type":"touch","path":true}`, "invalid_field path"},
		"a text for signals":    {`{"type":"touch","path":"/","signals":[]}`, "invalid_field signals"},
		"an object for a text":  {`{"type":"touch","path":"/","signals":{"via":{}}}`, "invalid_field via"},
		"too large":             {`{"type":"touch","path":"/","x":"` + strings.Repeat("x", event.MaxEvent) + `"}`, "too_large "},
		"too deep":              {`{"type":"touch","path":"/","x":` + deep + `}`, "too_deep "},
		"an id with a space":    {`{"type":"touch","path":"/","id":"a b"}`, "invalid_id id"},
		"a long id":             {`{"type":"touch","path":"/","id":"` + strings.Repeat("a", 129) + `"}`, "invalid_id id"},
		"no time":               {`{"type":"touch","path":"/","ts":"yesterday"}`, "invalid_ts ts"},
		"a time in seconds":     {`{"type":"touch","path":"/","ts":1795219198}`, "invalid_ts ts"},
		"a time with no zone":   {`{"type":"touch","path":"/","ts":"2026-11-20T23:59:58"}`, "invalid_ts ts"},
		"a fraction of a time":  {`{"type":"touch","path":"/","ts":1795219198000.5}`, "invalid_ts ts"},
		"a huge time":           {`{"type":"touch","path":"/","ts":99999999999999999999}`, "invalid_ts ts"},
		"an old time":           {`{"type":"touch","path":"/","ts":"2026-10-21T23:59:59Z"}`, "ts_too_old ts"},
		"a long visitor":        {`{"type":"touch","path":"/","visitorToken":"` + strings.Repeat("v", 129) + `"}`, "invalid_visitor visitorToken"},
		"a visitor with a NUL":  {`{"type":"touch","path":"/","visitorToken":"a\u0000"}`, "invalid_visitor visitorToken"},
		"a broken surrogate":    {`{"type":"touch","path":"/","visitorToken":"\ud800"}`, "invalid_visitor visitorToken"},
		"no address":            {`{"type":"convert","kind":"x","email":"somebody"}`, "invalid_email email"},
		"a named address":       {`{"type":"convert","kind":"x","email":"A <a@example.com>"}`, "invalid_email email"},
		"a user with address":   {`{"type":"convert","kind":"x","userRef":"user a@example.com"}`, "invalid_user_ref userRef"},
		"a long user":           {`{"type":"convert","kind":"x","userRef":"` + strings.Repeat("u", 129) + `"}`, "invalid_user_ref userRef"},
		"a touch of nothing":    {`{"type":"touch","visitorToken":"v"}`, "missing_subject url"},
		"identify, no visitor":  {`{"type":"identify","email":"a@example.com"}`, "missing_identity visitorToken"},
		"identify, nobody":      {`{"type":"identify","visitorToken":"v"}`, "missing_identity email"},
		"convert, nobody":       {`{"type":"convert","kind":"x"}`, "missing_identity email"},
		"convert, no kind":      {`{"type":"convert","userRef":"u"}`, "missing_kind kind"},
		"a kind in capitals":    {`{"type":"convert","userRef":"u","kind":"Paid"}`, "invalid_kind kind"},
		"a long kind":           {`{"type":"convert","userRef":"u","kind":"` + strings.Repeat("k", 41) + `"}`, "invalid_kind kind"},
		"a URL with no scheme":  {`{"type":"touch","url":"acme.dev/docs"}`, "invalid_url url"},
		"a URL of a file":       {`{"type":"touch","url":"file:///etc/passwd"}`, "invalid_url url"},
		"a URL with no host":    {`{"type":"touch","url":"https:///x"}`, "invalid_url url"},
		"a host with a space":   {`{"type":"touch","url":"https://a b/x"}`, "invalid_url url"},
		"a URL for a path":      {`{"type":"touch","path":"https://a.b/x"}`, "invalid_url path"},
		"a long URL":            {`{"type":"touch","url":"/` + strings.Repeat("x", 2048) + `"}`, "too_large url"},
		"a bad host":            {`{"type":"touch","path":"/","host":"a/b"}`, "invalid_url host"},
		"a status of a text":    {`{"type":"touch","path":"/","status":"ok"}`, "invalid_status status"},
		"a status above 599":    {`{"type":"touch","path":"/","status":600}`, "invalid_status status"},
		"a value, no currency":  {`{"type":"convert","userRef":"u","kind":"x","value":1}`, "missing_currency currency"},
		"an unknown currency":   {`{"type":"convert","userRef":"u","kind":"x","value":1,"currency":"BTC"}`, "unknown_currency currency"},
		"half a cent":           {`{"type":"convert","userRef":"u","kind":"x","value":"1.005","currency":"USD"}`, "invalid_value value"},
		"half a yen":            {`{"type":"convert","userRef":"u","kind":"x","value":0.5,"currency":"JPY"}`, "invalid_value value"},
		"an exponent":           {`{"type":"convert","userRef":"u","kind":"x","value":1e2,"currency":"USD"}`, "invalid_value value"},
		"not a number":          {`{"type":"convert","userRef":"u","kind":"x","value":"NaN","currency":"USD"}`, "invalid_value value"},
		"thousands":             {`{"type":"convert","userRef":"u","kind":"x","value":"1,000","currency":"USD"}`, "invalid_value value"},
		"a sale below zero":     {`{"type":"convert","userRef":"u","kind":"paid","value":-1,"currency":"USD"}`, "invalid_value value"},
		"an address for order":  {`{"type":"convert","userRef":"u","kind":"x","orderId":"a@example.com"}`, "invalid_order_id orderId"},
		"a long refunded order": {`{"type":"convert","userRef":"u","kind":"refund","refundOf":"` + strings.Repeat("o", 129) + `"}`, "invalid_order_id refundOf"},
	} {
		// A good event before and after each bad one must be taken.
		good := `{"type":"touch","path":"/"}`
		batch := read(t, `[`+good+`,`+c.event+`,`+good+`]`, secret())
		if len(batch.Inputs) != 2 || len(batch.Refusals) != 1 {
			t.Errorf("%s: took %d, refused %+v", name, len(batch.Inputs), batch.Refusals)
			continue
		}
		r := batch.Refusals[0]
		if got := string(r.Code) + " " + r.Field; got != c.want || r.Index != 1 || r.Message == "" {
			t.Errorf("%s: %q of event %d, not %q", name, got, r.Index, c.want)
		}
		if strings.Contains(r.Message, "example.com") && r.Code != event.InvalidEmail {
			t.Errorf("%s: the message repeats an address: %s", name, r.Message)
		}
	}
}

func TestWhatAKeyMaySend(t *testing.T) {
	body := `[{"type":"touch","path":"/"},{"type":"identify","visitorToken":"v","userRef":"u"},{"type":"convert","userRef":"u","kind":"paid"}]`
	for kind, want := range map[event.KeyKind]int{event.KindSecret: 3, event.KindPublishable: 2, "": 2, event.KindLog: 1} {
		batch := read(t, body, event.Options{Key: kind, ReceivedAt: arrival()})
		if len(batch.Inputs) != want {
			t.Errorf("%q: took %d, not %d", kind, len(batch.Inputs), want)
		}
		for _, r := range batch.Refusals {
			if r.Code != event.NotAllowed {
				t.Errorf("%q: %+v", kind, r)
			}
		}
	}
	line := `203.0.113.7 - - [20/Nov/2026:23:59:58 +0000] "GET / HTTP/1.1" 200 1 "-" "-"`
	batch := read(t, line, event.Options{Key: event.KindPublishable, Format: event.FormatCombined, ReceivedAt: arrival()})
	if len(batch.Refusals) != 1 || batch.Refusals[0].Code != event.NotAllowed {
		t.Errorf("a log with a publishable key: %+v", batch)
	}
}

// A browser cannot say which address it came from, or who signed for it.
func TestPublishableKeysAreTakenAtTheirRequest(t *testing.T) {
	o := event.Options{Key: event.KindPublishable, ReceivedAt: arrival(), ClientIP: netip.MustParseAddr("::ffff:198.51.100.9"), ClientUserAgent: "Mozilla/5.0 real"}
	in := one(t, `{"type":"touch","path":"/","ip":"203.0.113.7","userAgent":"GPTBot","signals":{"signature":"sig1=:x:","signatureInput":"i","signatureAgent":"a"}}`, o)
	if in.IP.String() != "198.51.100.9" || in.UserAgent != "Mozilla/5.0 real" || in.Signature+in.SignatureInput+in.SignatureAgent != "" {
		t.Errorf("%+v", in)
	}
}

func TestABeaconCarriesItsKey(t *testing.T) {
	o := event.Options{MediaType: "text/plain", ReceivedAt: arrival()}
	for _, body := range []string{
		`{"key":"pk_live_abc","events":[{"type":"touch","path":"/"}]}`,
		`{"key":"pk_live_abc","type":"touch","path":"/"}`,
	} {
		batch := read(t, body, o)
		if batch.Key != "pk_live_abc" || len(batch.Inputs) != 1 || len(batch.Warnings) != 0 {
			t.Errorf("%s: %+v", body, batch)
		}
	}
}

func TestIDs(t *testing.T) {
	o := secret()
	o.IdempotencyKey = "7d1c"
	batch := read(t, `[{"type":"touch","path":"/"},5,{"type":"touch","path":"/","id":"mine"},{"type":"touch","path":"/","id":42}]`, o)
	var got []string
	for _, in := range batch.Inputs {
		got = append(got, in.ID)
	}
	if want := []string{"7d1c#0", "mine", "42"}; !slices.Equal(got, want) {
		t.Errorf("ids %q, not %q", got, want)
	}
	for _, key := range []string{`"quoted key"`, strings.Repeat("k", 128), "a@example.com"} {
		o.IdempotencyKey = key
		first, again := one(t, `{"type":"touch","path":"/"}`, o), one(t, `{"type":"touch","path":"/"}`, o)
		if first.ID != again.ID || len(first.ID) != 34 || !strings.HasSuffix(first.ID, "#0") {
			t.Errorf("the id from key %q is %q", key, first.ID)
		}
	}
	refused := read(t, `[{"id":"known"},{"id":"a@example.com"}]`, secret()).Refusals
	if refused[0].ID != "known" || refused[1].ID != "" {
		t.Errorf("refusals repeat ids wrongly: %+v", refused)
	}
}

func TestDryRun(t *testing.T) {
	o := secret()
	if !read(t, `{"dryRun":true,"events":[]}`, o).DryRun || read(t, `{"events":[]}`, o).DryRun {
		t.Error("the body's dryRun is not taken")
	}
	o.DryRun = true
	if !read(t, `{"dryRun":false,"events":[]}`, o).DryRun || !read(t, `[]`, o).DryRun {
		t.Error("the request's dryRun is not taken")
	}
}

// A line that is broken costs that line.
func TestBrokenLines(t *testing.T) {
	o := secret()
	o.MediaType = "application/x-ndjson"
	good := `{"type":"touch","path":"/"}`
	batch := read(t, good+"\n{\"type\":\n"+good+good+"\n[]\n"+good, o)
	var codes []string
	for _, r := range batch.Refusals {
		codes = append(codes, string(r.Code))
	}
	if len(batch.Inputs) != 2 || batch.Inputs[1].Index != 4 || strings.Join(codes, " ") != "unreadable unreadable invalid_event" {
		t.Errorf("took %d, refused %q", len(batch.Inputs), codes)
	}
}

// The example of the design, field by field.
func TestTheDocumentedExample(t *testing.T) {
	in := one(t, `{"type":"touch","id":"01JD","ts":"2026-11-20T23:59:58.900Z","visitorToken":"v_9f3c",
	  "url":"https://User:Pw@ACME.dev:443/docs/quickstart.md?via=mcp&token=s3cr3t&utm_source=chatgpt.com&vt=abc_-#frag?ref=x","method":"get","status":"404",
	  "contentType":"text/markdown; charset=utf-8","durationMs":12.5,"bytes":5120,
	  "signals":{"agent":"Claude","source":"nextjs","userAgent":"GPTBot/1.3","ip":"203.0.113.7","referrer":"https://chatgpt.com/c/123?x=y",
	  "accept":"text/markdown, */*","signature":"sig1=:a:","signatureInput":"sig1=()","signatureAgent":"\"https://chatgpt.com\"","selfReported":"asked ChatGPT",
	  "mcp":{"method":"tools/call","tool":"search","client":"claude-code","clientVersion":"2.1.0"}}}`, secret())
	in.ReceivedAt = time.Time{}
	want := event.Input{
		ID: "01JD", Type: event.Touch, At: time.Date(2026, 11, 20, 23, 59, 58, 9e8, time.UTC), VisitorToken: "v_9f3c",
		Host: "acme.dev", Path: "/docs/quickstart.md", Method: "GET", Status: 404, ContentType: "text/markdown",
		Duration: 12500 * time.Microsecond, Bytes: 5120, Via: "mcp", UTMSource: "chatgpt.com", VT: "abc_-",
		UserAgent: "GPTBot/1.3", IP: netip.MustParseAddr("203.0.113.7"), ReferrerHost: "chatgpt.com", ReferrerPath: "/c/123",
		Accept: "text/markdown, */*", Signature: "sig1=:a:", SignatureInput: "sig1=()", SignatureAgent: `"https://chatgpt.com"`,
		MCPMethod: "tools/call", MCPTool: "search", MCPClient: "claude-code", MCPVersion: "2.1.0",
		Claimed: "Claude", Source: "nextjs", SelfReport: "asked ChatGPT",
	}
	if in != want {
		t.Errorf("got  %+v\nwant %+v", in, want)
	}
	r := in.Record(func(token string) string { return "hash of " + token })
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	const kept = `{"id":"01JD","type":"touch","at":"2026-11-20T23:59:58.9Z","received":"0001-01-01T00:00:00Z","visitor":"hash of v_9f3c",` +
		`"host":"acme.dev","path":"/docs/quickstart.md","method":"GET","status":404,"contentType":"text/markdown","durationMs":12,"bytes":5120,` +
		`"markdown":true,"userAgent":"GPTBot/1.3","network":"203.0.113.0/24","referrer":"chatgpt.com","via":"mcp","utmSource":"chatgpt.com",` +
		`"source":"nextjs","claimed":"Claude","selfReport":"asked ChatGPT","mcpMethod":"tools/call","mcpTool":"search","mcpClient":"claude-code","mcpVersion":"2.1.0"}`
	if string(b) != kept {
		t.Errorf("got  %s\nwant %s", b, kept)
	}
}
