package ranges_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
)

const day = 24 * time.Hour

var snapshotDay = time.Date(2026, 6, 11, 0, 0, 0, 0, time.UTC)

// operators answers for all of them without a network.
type operators struct {
	mu     sync.Mutex
	bodies map[string]string // by list
	etag   string
	asked  []string
	conds  int
}

func (o *operators) RoundTrip(r *http.Request) (*http.Response, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range ranges.Sources() {
		if s.URL != r.URL.String() {
			continue
		}
		o.asked = append(o.asked, s.List)
		body, ok := o.bodies[s.List]
		if !ok {
			return nil, errors.New("no route")
		}
		res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
		if o.etag != "" {
			res.Header.Set("ETag", o.etag)
			if r.Header.Get("If-None-Match") == o.etag {
				o.conds++
				res.StatusCode, res.Body = http.StatusNotModified, http.NoBody
			}
		}
		return res, nil
	}
	return nil, fmt.Errorf("nobody is at %s", r.URL)
}

func prefixes(list ...string) string {
	var b strings.Builder
	b.WriteString(`{"creationTime":"2026-01-01T00:00:00.000000","prefixes":[`)
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		key := "ipv4Prefix"
		if strings.Contains(p, ":") {
			key = "ipv6Prefix"
		}
		fmt.Fprintf(&b, `{"%s":"%s"}`, key, p)
	}
	return b.String() + "]}"
}

func open(t *testing.T, file string) *ranges.Set {
	t.Helper()
	s, err := ranges.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSnapshot(t *testing.T) {
	s := open(t, "")
	for _, tc := range []struct {
		name, list, ip string
		at             time.Time
		want           ranges.Result
	}{
		{"of GPTBot, in its day", "openai-gptbot", "52.230.152.7", snapshotDay, ranges.Inside},
		{"of GPTBot, as IPv6", "openai-gptbot", "::ffff:52.230.152.7", snapshotDay, ranges.Inside},
		{"not of GPTBot", "openai-gptbot", "192.0.2.1", snapshotDay, ranges.Outside},
		{"not of GPTBot, 14 days on", "openai-gptbot", "192.0.2.1", snapshotDay.Add(14 * day), ranges.Outside},
		{"not of GPTBot, later", "openai-gptbot", "192.0.2.1", snapshotDay.Add(14*day + time.Second), ranges.Stale},
		{"not of GPTBot, long before", "openai-gptbot", "192.0.2.1", snapshotDay.Add(-15 * day), ranges.Stale},
		{"of GPTBot, half a year on", "openai-gptbot", "52.230.152.7", snapshotDay.Add(180 * day), ranges.Inside},
		{"not of GPTBot, half a year on", "openai-gptbot", "192.0.2.1", snapshotDay.Add(180 * day), ranges.Stale},
		{"of Googlebot, IPv6", "google-common", "2001:4860:4801:10::1", snapshotDay.Add(20 * day), ranges.Inside},
		{"not of Googlebot between two checks", "google-common", "2001:db8::1", snapshotDay.Add(40 * day), ranges.Outside},
		{"of Anthropic", "anthropic", "216.73.217.16", snapshotDay.Add(60 * day), ranges.Inside},
		{"a list without snapshot", "openai-adsbot", "52.230.152.7", snapshotDay, ranges.Unknown},
		{"no list", "nobody", "52.230.152.7", snapshotDay, ranges.Unknown},
	} {
		if got := s.Check(tc.list, netip.MustParseAddr(tc.ip), tc.at).Result; got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := s.Check("openai-gptbot", netip.Addr{}, snapshotDay).Result; got != ranges.Unknown {
		t.Errorf("no address: %s", got)
	}
	if as := s.AsOf(); !as["openai-gptbot"].Equal(snapshotDay) || len(as) != 14 {
		t.Errorf("as of %v", as)
	}
}

func TestAFindingHasTheDateOfTheList(t *testing.T) {
	s, ip := open(t, ""), netip.MustParseAddr("52.230.152.7")
	for after, old := range map[time.Duration]bool{0: false, 14 * day: false, 15 * day: true, 163 * day: true} {
		f := s.Check("openai-gptbot", ip, snapshotDay.Add(after))
		if f.Result != ranges.Inside || !f.AsOf.Equal(snapshotDay) || f.Old != old {
			t.Errorf("%s on: %+v, want inside, old %v", after, f, old)
		}
	}
	if a := s.Ages(snapshotDay.Add(163 * day)); a.Lists != 14 || a.Old != 14 || !a.Oldest.Before(snapshotDay) {
		t.Errorf("ages %+v", a)
	}
	if a := s.Ages(snapshotDay); a.Old != 1 { // Meta's, which is of April
		t.Errorf("ages %+v", a)
	}
}

func TestCDN(t *testing.T) {
	s := open(t, "")
	for ip, want := range map[string]string{
		"172.71.150.12": "cdn-cloudflare", "162.158.10.1": "cdn-cloudflare", "104.23.197.4": "cdn-cloudflare", "2a06:98c0:3600::103": "cdn-cloudflare",
		"2606:4700:10::6814": "cdn-cloudflare", "::ffff:172.71.150.12": "cdn-cloudflare", "151.101.1.6": "cdn-fastly", "2a04:4e42::1": "cdn-fastly",
		"104.28.10.1": "", "52.230.152.7": "", "2001:4860:4801:10::1": "", "192.0.2.1": "",
	} {
		if got, ok := s.CDN(netip.MustParseAddr(ip), snapshotDay.Add(200*day)); got != want || ok != (want != "") {
			t.Errorf("%s is of %q, want %q", ip, got, want)
		}
	}
}

func TestSnapshotNamesKnownLists(t *testing.T) {
	var known []string
	for _, s := range ranges.Sources() {
		known = append(known, s.List)
	}
	for list := range open(t, "").AsOf() {
		if !slices.Contains(known, list) {
			t.Errorf("%s has no source", list)
		}
	}
}

// A range that was given up still counts for the days on which it was published.
func TestLateEventsAreJudgedByTheirDay(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "ranges.json")
	ops := &operators{bodies: map[string]string{"openai-gptbot": prefixes("198.18.0.0/24", "198.18.1.0/24")}}
	client := &http.Client{Transport: ops}
	s := open(t, file)
	start := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	for d := range 20 {
		if d == 10 {
			ops.bodies["openai-gptbot"] = prefixes("198.18.1.0/24", "198.18.2.0/24", "2001:db8::/32")
		}
		if err := s.Refresh(ctx, client, start.Add(time.Duration(d)*day)); err == nil {
			t.Fatal("lists that cannot be fetched were not told")
		}
	}
	now := start.Add(19 * day)
	check := func(s *ranges.Set, when string) {
		t.Helper()
		for _, tc := range []struct {
			ip   string
			at   time.Time
			want ranges.Result
		}{
			{"198.18.0.1", start.Add(5 * day), ranges.Inside},
			{"198.18.0.1", now, ranges.Outside},
			{"198.18.2.1", start.Add(5 * day), ranges.Outside},
			{"198.18.2.1", now, ranges.Inside},
			{"198.18.2.1", start.Add(9*day + time.Hour), ranges.Inside}, // new, and not yet seen
			{"198.18.0.1", start.Add(10*day + time.Hour), ranges.Inside},
			{"198.18.1.1", start.Add(5 * day), ranges.Inside},
			{"198.18.1.1", now, ranges.Inside},
			{"2001:db8::7", now, ranges.Inside},
			{"52.230.152.7", now, ranges.Outside},
			{"52.230.152.7", snapshotDay, ranges.Inside},
			{"192.0.2.1", start.Add(-20 * day), ranges.Stale},
			{"192.0.2.1", now.Add(15 * day), ranges.Stale},
		} {
			if got := s.Check("openai-gptbot", netip.MustParseAddr(tc.ip), tc.at).Result; got != tc.want {
				t.Errorf("%s: %s at %s: %s, want %s", when, tc.ip, tc.at, got, tc.want)
			}
		}
	}
	check(s, "in memory")
	check(open(t, file), "from the file")
	if got := open(t, "").Check("openai-gptbot", netip.MustParseAddr("198.18.1.1"), now).Result; got != ranges.Stale {
		t.Errorf("without the file: %s", got)
	}
}

func TestRefreshIsConditional(t *testing.T) {
	ops := &operators{bodies: map[string]string{}, etag: `"1"`}
	for _, s := range ranges.Sources() {
		ops.bodies[s.List] = published(s.Format, "198.18.0.0/24")
	}
	s := open(t, "")
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for i := range 3 {
		if err := s.Refresh(t.Context(), &http.Client{Transport: ops}, now.Add(time.Duration(i)*day)); err != nil {
			t.Fatal(err)
		}
	}
	if want := 2 * len(ranges.Sources()); ops.conds != want {
		t.Errorf("%d answers of 304, want %d", ops.conds, want)
	}
	for list, at := range s.AsOf() {
		if !at.Equal(now.Add(2 * day)) {
			t.Errorf("%s is as of %s", list, at)
		}
	}
}

func TestDamageLeavesTheLastGoodCopy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ranges.json")
	ops := &operators{bodies: map[string]string{"bing": prefixes("198.18.0.0/24")}}
	s := open(t, file)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	_ = s.Refresh(t.Context(), &http.Client{Transport: ops}, now)
	for _, body := range []string{"", "<html>", prefixes(), prefixes("0.0.0.0/0"), prefixes("10.0.0.0/24"), `{"prefixes":[{"ipv4Prefix":"x"}]}`, `{"prefixes":[7]}`} {
		ops.bodies["bing"] = body
		if err := s.Refresh(t.Context(), &http.Client{Transport: ops}, now.Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "ranges bing") {
			t.Errorf("%q: %v", body, err)
		}
		if got := s.Check("bing", netip.MustParseAddr("198.18.0.1"), now).Result; got != ranges.Inside {
			t.Errorf("%q: %s", body, got)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ranges.json")
	for _, text := range []string{"", "{}", `{"version":2}`, `{"version":1,"lists":{"x":{"spans":[{"prefixes":["y"]}]}}}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ranges.Open(file); err == nil {
			t.Errorf("%q was opened", text)
		}
	}
}

func TestChecksDuringRefresh(t *testing.T) {
	ops := &operators{bodies: map[string]string{"bing": prefixes("198.18.0.0/24")}}
	s := open(t, filepath.Join(t.TempDir(), "ranges.json"))
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop()
		for i := range 50 {
			_ = s.Refresh(ctx, &http.Client{Transport: ops}, now.Add(time.Duration(i)*time.Hour))
		}
	})
	for ctx.Err() == nil {
		s.Check("bing", netip.MustParseAddr("198.18.0.1"), now)
		s.AsOf()
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(prefixes("198.18.0.0/24", "2001:db8::/32")))
	f.Add([]byte(`{"prefixes":["198.18.0.1","2001:db8::1/128"]}`))
	f.Add([]byte(`{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, err := ranges.Parse(raw)
		if err != nil {
			if list != nil {
				t.Error("a list and an error")
			}
			return
		}
		var texts []string
		for _, p := range list {
			if !p.IsValid() || p != p.Masked() || p.Bits() < 12 {
				t.Errorf("%s", p)
			}
			texts = append(texts, p.String())
		}
		again, err := ranges.Parse([]byte(prefixes(texts...)))
		if err != nil || !slices.Equal(list, again) {
			t.Errorf("%v is not %v: %v (%s)", again, list, err, bytes.TrimSpace(raw))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	s, err := ranges.Open("")
	if err != nil {
		b.Fatal(err)
	}
	ip := netip.MustParseAddr("52.230.152.7")
	b.ReportAllocs()
	for b.Loop() {
		s.Check("openai-gptbot", ip, snapshotDay)
	}
}
