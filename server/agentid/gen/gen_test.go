package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestPatternRows(t *testing.T) {
	for pattern, want := range map[string][]string{
		`Googlebot\/`:                     {"Googlebot/\tmonitor"},
		`[pP]ingdom`:                      {"Pingdom\tmonitor", "pingdom\tmonitor"},
		`^curl`:                           {"^curl\tmonitor"},
		`(^| )sentry\/`:                   {" sentry/\tmonitor", "^sentry/\tmonitor"},
		`AdsBot-Google([^-]|$)`:           {"AdsBot-Google\tmonitor"},
		`ContextualBot[\s\S]*outcomes`:    {"ContextualBot\tmonitor"},
		`BlogTraffic\/\d\.\d+ Feed-Fetch`: {"BlogTraffic/\tmonitor"},
		`Viber`:                           nil, // a word of people's phones
		`Y!J`:                             nil, // too short
	} {
		got, err := patternRows([]byte(`[{"pattern":` + quote(pattern) + `,"tags":["seo","monitoring"]}]`))
		slices.Sort(got)
		got = slices.Compact(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
}

func quote(s string) string {
	out := []byte{'"'}
	for _, c := range []byte(s) {
		if c == '\\' || c == '"' {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return string(append(out, '"'))
}

func TestNameRows(t *testing.T) {
	got, err := nameRows([]byte(`{"Code":{"function":"AI Coding Agents"},"Meta-Thing":{"function":"AI Assistants"},"meta-thing":{"function":"x"},"Some-Bot/1.0":{"function":"AI Data Providers"}}`))
	slices.Sort(got)
	if want := []string{"meta-thing\tMeta-Thing\tuser_fetch", "some-bot\tSome-Bot\tdata_provider"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestAnotherInputIsRefused(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "in.json")
	if err := os.WriteFile(from, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(from, patternsSum, filepath.Join(dir, "out.tsv"), "", patternRows); err == nil {
		t.Error("an input that is not pinned was read")
	}
	if _, err := os.Stat(filepath.Join(dir, "out.tsv")); err == nil {
		t.Error("a table was written")
	}
}
