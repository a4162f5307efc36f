package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestCallPorts(t *testing.T) {
	for text, want := range map[string]string{"": "", "8443": "", "8443,9000": "", "0": "call-ports: 0 is not a port", "65536": "call-ports: 65536 is not a port", "https": "configuration"} {
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
