package attribution

import "testing"

func TestCompetes(t *testing.T) {
	evidence := []string{SignedLink, Signature, Tag, Referrer, Declared}
	for class, want := range map[string]string{
		"user_fetch": "yyyyy", "agentic_browser": "yyyyy", "coding_agent": "yyyyy",
		"browser": "yyyyy", "none": "yyyyy", "": "yyyyy", "http_library": "nynnn",
		"training_crawler": "nnnnn", "search_index": "nnnnn", "search_engine": "nnnnn", "link_preview": "nnnnn",
		"ads_review": "nnnnn", "data_provider": "nnnnn", "monitor": "nnnnn", "scanner_probe": "nnnnn", "unknown_bot": "nnnnn",
	} {
		for i, e := range evidence {
			touch := Touch{Class: class, Evidence: e}
			if got := touch.competes(); got != (want[i] == 'y') {
				t.Errorf("%s with %s: %v", class, e, got)
			}
			if touch.Spoofed = true; touch.competes() {
				t.Errorf("a spoofed %s competes", class)
			}
		}
		for _, e := range []string{"", "inferred", "SIGNATURE"} {
			if touch := (Touch{Class: class, Evidence: e}); touch.competes() {
				t.Errorf("%s competes with evidence %q", class, e)
			}
		}
	}
}

func TestCreditedFamily(t *testing.T) {
	for _, c := range []struct {
		touch Touch
		want  string
	}{
		{Touch{Family: "ChatGPT", Agent: "ChatGPT-User", Evidence: Tag}, "ChatGPT"},
		{Touch{Agent: "new-agent", Evidence: Tag}, "new-agent"},
		{Touch{Evidence: SignedLink}, OtherAgent},
		{Touch{Family: "ChatGPT"}, NoAgent},
	} {
		if got := c.touch.credited(); got != c.want {
			t.Errorf("%+v is credited to %q, not %q", c.touch, got, c.want)
		}
	}
}
