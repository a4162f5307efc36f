package cli

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// The server answers at the root of a host: behind a path, links of its pages would be dead.
func TestBaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://firstpick.example": "", "https://firstpick.example/": "", "http://127.0.0.1:8080": "",
		"https://acme.example/firstpick": "has a path", "https://acme.example/?a=b": "is not an http or https address", "firstpick.example": "is not an http or https address",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		addConfigFlags(flags)
		_, err := loadConfig(&Env{Getenv: func(name string) string { return map[string]string{"FIRSTPICK_BASE_URL": base}[name] }}, flags)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", base, err)
		}
	}
}
