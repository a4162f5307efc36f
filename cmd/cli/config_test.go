package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestCallPorts(t *testing.T) {
	for text, want := range map[string]string{"": "", "8443": "", "8443,9000": "", "0": "call-ports must be from 1 to 65535 (got 0)", "65536": "call-ports must be from 1 to 65535 (got 65536)", "https": "configuration"} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		addConfigFlags(flags)
		c, err := loadConfig(&Env{Getenv: func(name string) string { return map[string]string{"FIRSTPICK_CALL_PORTS": text}[name] }}, flags)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if text == "8443,9000" && !slices.Equal(c.CallPorts, []int{8443, 9000}) {
			t.Errorf("%q: %v", text, c.CallPorts)
		}
	}
}

// The server answers at the root of a host: behind a path, links of its pages would be dead.
func TestBaseURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://firstpick.example": "", "https://firstpick.example/": "", "http://127.0.0.1:8080": "",
		"https://acme.example/firstpick": "must not have a path", "https://acme.example/?a=b": "must be an http or https URL", "firstpick.example": "must be an http or https URL",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		addConfigFlags(flags)
		_, err := loadConfig(&Env{Getenv: func(name string) string { return map[string]string{"FIRSTPICK_BASE_URL": base}[name] }}, flags)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", base, err)
		}
	}
}
