package billing

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// The sum was computed with Stripe's own library for Go, version 82.5.1.
func TestASignatureOfStripes(t *testing.T) {
	body, at := []byte(`{"id":"evt_1","type":"ping"}`), time.Unix(1763719200, 0)
	const header = "t=1763719200,v1=9047b5a593dc885a449ebb017c0c2078a9c96257f7794b23e81ecf958f49d53a"
	if err := verify(header, body, []string{"whsec_test_secret"}, at); err != nil {
		t.Error(err)
	}
	if got := sign(body, at, "whsec_test_secret"); !strings.HasPrefix(got, header+",") {
		t.Errorf("the tests sign otherwise: %s", got)
	}
}

func TestSignatures(t *testing.T) {
	body := []byte(`{"id":"evt_1"}`)
	_, good, _ := strings.Cut(strings.Split(sign(body, start, key), ",")[1], "=")
	_, old, _ := strings.Cut(strings.Split(sign(body, start, "whsec_old"), ",")[1], "=")
	stamp := strings.Split(sign(body, start, key), ",")[0]
	for name, c := range map[string]struct {
		header string
		after  time.Duration
		want   error
	}{
		"one":                        {stamp + ",v1=" + good, 0, nil},
		"the other way round":        {"v1=" + good + "," + stamp, 0, nil},
		"with spaces":                {stamp + ", v1=" + good, 0, nil},
		"several, while one rotates": {stamp + ",v1=" + strings.Repeat("ab", 32) + ",v1=" + good, 0, nil},
		"by the old secret":          {stamp + ",v1=" + old, 0, nil},
		"in capitals":                {stamp + ",v1=" + strings.ToUpper(good), 0, nil},
		"five minutes old":           {stamp + ",v1=" + good, tolerance, nil},
		"five minutes early":         {stamp + ",v1=" + good, -tolerance, nil},
		"older":                      {stamp + ",v1=" + good, tolerance + 1, errNotInTime},
		"earlier":                    {stamp + ",v1=" + good, -tolerance - 1, errNotInTime},
		"another scheme":             {stamp + ",v0=" + good, 0, errNoSignature},
		"no time":                    {"v1=" + good, 0, errNoSignature},
		"two times":                  {stamp + "," + stamp + ",v1=" + good, 0, errNoSignature},
		"a time that is none":        {"t=now,v1=" + good, 0, errNoSignature},
		"a time below nothing":       {"t=-1,v1=" + good, 0, errNoSignature},
		"half a sum":                 {stamp + ",v1=" + good[:32], 0, errNoSignature},
		"a sum that is none":         {stamp + ",v1=" + strings.Repeat("zz", 32), 0, errNoSignature},
		"another sum":                {stamp + ",v1=" + strings.Repeat("00", 32), 0, errNotSignedFor},
		"nothing":                    {"", 0, errNoSignature},
	} {
		if got := verify(c.header, body, []string{key, "whsec_old"}, start.Add(c.after)); got != c.want { //nolint:errorlint // the error itself
			t.Errorf("%s: %v", name, got)
		}
	}
	if verify(stamp+",v1="+good, body, nil, start) == nil {
		t.Error("without a secret everything is signed")
	}
}

// Only the exact bytes and time that a holder of the secret signed are believed.
func FuzzSignature(f *testing.F) {
	body := []byte(`{"id":"evt_1"}`)
	good := sign(body, start, key)
	f.Add(good, body)
	f.Add(strings.Replace(good, ",", ", ", 1), body)
	f.Add("t=1,v1=", []byte{})
	f.Add("t=01763719200,v1=00", []byte("x"))
	f.Fuzz(func(t *testing.T, header string, sent []byte) {
		s, err := parseSignature(header)
		if err == nil && (s.stamp == "" || len(s.sums) == 0 || strings.Trim(s.stamp, "0123456789") != "") {
			t.Errorf("%q is read as %+v", header, s)
		}
		if verify(header, sent, []string{key}, start) == nil && (!bytes.Equal(sent, body) || !strings.Contains(header, strings.Split(good, ",")[0])) {
			t.Errorf("%q signs %q", header, sent)
		}
		if verify(sign(sent, start, key), sent, []string{key}, start) != nil {
			t.Errorf("a signature of %q is refused", sent)
		}
	})
}

// What is read of an event fits into a store.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"id":"evt_1","type":"customer.subscription.updated","created":1763719200,"data":{"object":{"id":"sub_1","status":"active","metadata":{"workspace":"w"}}}}`))
	f.Add([]byte(`{"id":"evt_1","type":"checkout.session.completed","created":1763719200,"data":{"object":{"subscription":"sub_1","client_reference_id":"w"}}}`))
	f.Add([]byte(`{"id":"evt_1","type":"customer.subscription.deleted","created":9e9,"data":{"object":{"id":"s","status":"s"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := parse(body)
		if err != nil {
			return
		}
		if !word.MatchString(e.id) || e.subscription != "" && (!word.MatchString(e.subscription) || e.at.Unix() <= 0 || e.at.UnixMicro() <= 0 || e.at.Year() > 40000) {
			t.Errorf("%q is read as %+v", body, e)
		}
		if e.status != "" && (!word.MatchString(e.status) || e.subscription == "") {
			t.Errorf("%q is read as %+v", body, e)
		}
	})
}
