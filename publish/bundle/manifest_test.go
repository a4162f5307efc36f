package bundle

import (
	"reflect"
	"testing"

	"github.com/firstpick/firstpick/runner/journal"
)

// TestNothingOfAnAgentIsLeftOut fails when the journal's manifest has a field that
// the bundle's has not.
func TestNothingOfAnAgentIsLeftOut(t *testing.T) {
	kind := reflect.TypeFor[journal.Manifest]()
	for i := range kind.NumField() {
		var m journal.Manifest
		field := reflect.ValueOf(&m).Elem().Field(i)
		switch field.Kind() {
		case reflect.String:
			field.SetString("x")
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{"x"}))
		default:
			field.Set(reflect.ValueOf(map[string]string{"x": "y"}))
		}
		told := encodeManifest(m)
		if told.ID != m.ID() {
			t.Errorf("id %s, want %s", told.ID, m.ID())
		}
		told.ID = ""
		if kind.Field(i).Name != "Agent" && reflect.ValueOf(told).IsZero() { // the agent has its name beside it
			t.Errorf("%s is left out", kind.Field(i).Name)
		}
	}
}
