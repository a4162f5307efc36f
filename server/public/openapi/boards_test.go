package openapi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/public/openapi"
)

// fields returns the JSON names of a struct's fields, and those that are always printed.
func fields(t reflect.Type) (all, required []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous: // a part; older snapshots lack those behind pointers
			part := f.Type
			if part.Kind() == reflect.Pointer {
				part = part.Elem()
			}
			more, always := fields(part)
			all = append(all, more...)
			if f.Type.Kind() != reflect.Pointer {
				required = append(required, always...)
			}
		case name == "-":
		default:
			all = append(all, name)
			if options == "" {
				required = append(required, name)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}

// TestBoardsAreDocumented compares the types of a board with their schemas.
func TestBoardsAreDocumented(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]yaml.Node
				Items      struct{ Enum []string }
			}
		}
	}
	if err := yaml.Unmarshal(openapi.Source(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, typ := range map[string]reflect.Type{
		"Leaderboard": reflect.TypeFor[analytics.Board](), "Standing": reflect.TypeFor[analytics.Standing](), "Report": reflect.TypeFor[analytics.Report](),
		"Rival": reflect.TypeFor[analytics.Rival](), "AgentRate": reflect.TypeFor[analytics.AgentRate](), "Cut": reflect.TypeFor[analytics.Cut](),
		"Range": reflect.TypeFor[analytics.Range](), "Variance": reflect.TypeFor[analytics.Variance](), "Consistency": reflect.TypeFor[analytics.Consistency](),
		"FieldRate": reflect.TypeFor[analytics.FieldRate](), "FieldAgreement": reflect.TypeFor[analytics.FieldAgreement](),
		"ObservedBoard": reflect.TypeFor[observed.Board](), "ObservedStanding": reflect.TypeFor[observed.Standing](), "ObservedRate": reflect.TypeFor[observed.Rate](),
		"ObservedLanguage": reflect.TypeFor[observed.LanguageBoard](), "ObservedAgent": reflect.TypeFor[observed.AgentBoard](),
		"ObservedItem": reflect.TypeFor[observed.Item](), "ObservedOmitted": reflect.TypeFor[observed.Omitted](),
	} {
		schema := doc.Components.Schemas[name]
		var got []string
		for property := range schema.Properties {
			got = append(got, property)
		}
		slices.Sort(got)
		slices.Sort(schema.Required)
		all, required := fields(typ)
		if !slices.Equal(got, all) {
			t.Errorf("%s has the properties %q, the type %q", name, got, all)
		}
		if !slices.Equal(schema.Required, required) {
			t.Errorf("%s requires %q, the type always prints %q", name, schema.Required, required)
		}
	}
	if got := doc.Components.Schemas["Warnings"].Items.Enum; !slices.Equal(got, analytics.WarningCodes()) {
		t.Errorf("warnings are %q, want %q", got, analytics.WarningCodes())
	}
}
