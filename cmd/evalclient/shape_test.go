package evalclient

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
)

// TestShapesAreTheServers holds the types of this package to those that the server
// writes: the same fields, under the same names, of the same kinds.
func TestShapesAreTheServers(t *testing.T) {
	for _, pair := range [][2]any{
		{Report{}, evals.Report{}},
	} {
		ours, theirs := fields(reflect.TypeOf(pair[0])), fields(reflect.TypeOf(pair[1]))
		if !slices.Equal(ours, theirs) {
			t.Errorf("%T has\n  %s\nand the server's\n  %s", pair[0], strings.Join(ours, "\n  "), strings.Join(theirs, "\n  "))
		}
		if len(ours) < 2 {
			t.Errorf("%T has %d fields", pair[0], len(ours))
		}
	}
}

// fields lists the JSON paths of a type and the kinds that are there.
func fields(of reflect.Type) []string {
	var out []string
	for i := range of.NumField() {
		f := of.Field(i)
		name := f.Tag.Get("json")
		kind := f.Type
		for kind.Kind() == reflect.Slice || kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		inner := kind.Kind() == reflect.Struct && strings.HasPrefix(kind.PkgPath(), "github.com/firstpick/")
		switch {
		case f.Anonymous:
			out = append(out, fields(f.Type)...)
		case name == "-":
		case name == "manifest" || name == "scores": // documents of their own, which callers read
			out = append(out, name)
		case inner:
			for _, path := range fields(kind) {
				out = append(out, name+" "+path)
			}
		default:
			out = append(out, name+" "+f.Type.Kind().String()+" "+kind.Kind().String())
		}
	}
	slices.Sort(out)
	return out
}
