package cli

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// configKeys returns the keys of a struct's fields, and their types.
func configKeys(of reflect.Type) (keys []string, types map[string]reflect.Type) {
	types = map[string]reflect.Type{}
	for i := range of.NumField() {
		if key := of.Field(i).Tag.Get("mapstructure"); key != "-" {
			keys, types[key] = append(keys, key), of.Field(i).Type
		}
	}
	return keys, types
}

// checkConfigFile refuses keys that are unknown and values of another type, by file and
// line.
func checkConfigFile(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return usageErr("", "configuration: %w", err)
	}
	if onlyComments(data) {
		return nil
	}
	f, root := strictyaml.Parse(file, bytes.NewReader(data))
	checkConfigKeys(root, reflect.TypeFor[Config]())
	if err := f.Err(); err != nil {
		return usageErr("firstpick init --server writes a "+configName+" with every key", "configuration: %w", err)
	}
	return nil
}

func onlyComments(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func checkConfigKeys(n *strictyaml.Node, of reflect.Type) {
	keys, types := configKeys(of)
	for key, value := range n.Keys(keys...) {
		switch t := types[key]; {
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
			for _, one := range value.Maps() {
				checkConfigKeys(one, t.Elem())
			}
		case t.Kind() == reflect.Slice && !value.Scalar():
			value.Items()
		case t.Kind() == reflect.Map:
			value.Each(func(string, int, *strictyaml.Node) {})
		case !value.Scalar():
			value.Fail("%s must be %s", key, valueWords(t))
		default:
			if text, ok := value.Text(); ok {
				if err := checkValue(text, t); err != nil {
					value.Fail("%s: %s", key, err)
				}
			}
		}
	}
}

// valueWords describes the values of a type.
func valueWords(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 30s"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Int:
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	default:
		return "a text"
	}
}

// checkValue returns an error for text that does not parse as a value of a type.
func checkValue(text string, t reflect.Type) (err error) {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		_, err = time.ParseDuration(text)
	case t.Kind() == reflect.Bool:
		_, err = strconv.ParseBool(text)
	case t.Kind() == reflect.Int:
		_, err = strconv.Atoi(text)
	case t.Kind() == reflect.Float64:
		_, err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		return fmt.Errorf("must be %s (got %q)", valueWords(t), text)
	}
	return nil
}

// envName is the variable of the environment that sets a key.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// otherVariables returns our environment variables that are not configuration keys:
// those of a collector, of agents, and of the tests and benchmarks.
func otherVariables() []string {
	return []string{
		"FIRSTPICK_CONFIG", "FIRSTPICK_KEY", "FIRSTPICK_URL", "FIRSTPICK_IP_HEADER", "FIRSTPICK_SEND_ALL", "FIRSTPICK_TOOLS",
		"FIRSTPICK_REQUIRE", "FIRSTPICK_SHOTS", "FIRSTPICK_TRIES", "FIRSTPICK_UPDATE", "FIRSTPICK_ENGINES", "FIRSTPICK_NODE22", "FIRSTPICK_NPM", "FIRSTPICK_CLIS",
		"FIRSTPICK_BENCH_TRIALS", "FIRSTPICK_INGEST", "FIRSTPICK_EVENTS", "FIRSTPICK_TRAFFIC", "FIRSTPICK_MEMORY", "FIRSTPICK_THREADS",
		"FIRSTPICK_AGENT_INPUTS", "FIRSTPICK_NAME",
	}
}

// unknownVariables returns a warning for each variable of ours that nothing reads. It is
// no error: a machine's environment may be that of another version too, and of tests.
func unknownVariables(environ []string) (warnings []string) {
	keys, _ := configKeys(reflect.TypeFor[Config]())
	known := otherVariables()
	for _, key := range keys {
		known = append(known, envName(key))
	}
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.HasPrefix(name, envPrefix+"TEST_") || slices.Contains(known, name) {
			continue
		}
		w := "environment variable " + name + " is unknown"
		if near, ok := nearest.Close(name, known); ok {
			w += "; " + near
		}
		warnings = append(warnings, w)
	}
	return warnings
}
