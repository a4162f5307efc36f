package reqbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Kind names the kind of a JSON value, with its article.
func Kind(value []byte) string {
	value = bytes.TrimSpace(value)
	if len(value) == 0 {
		return "missing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// syntax describes the position of the first JSON syntax error.
func syntax(data []byte) string {
	err := json.Unmarshal(data, new(any))
	var at *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &at) && at.Offset >= int64(len(data)):
		return "The request body is not valid JSON: it ends too early."
	case at != nil:
		return "The request body is not valid JSON: byte " + strconv.FormatInt(at.Offset, 10) + " does not belong there."
	default:
		return "The request body is not valid JSON."
	}
}

// explain describes a decoding error: the member, the expected type and the actual one.
// It repeats no value, which may be a secret.
func explain(err error, v any) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "The request body has a member that this path does not take. It takes " + list(members(reflect.TypeOf(v))) + "."
	}
	is, _, _ := strings.Cut(wrong.Value, " ") // of a number, the number follows
	is = map[string]string{"array": "a list", "bool": "true or false", "number": "a number", "object": "an object", "string": "a string"}[is]
	declared := member(reflect.TypeOf(v), strings.Split(wrong.Field, "."))
	if declared == nil {
		return "The request body has a member of the wrong type: one that must be " + noun(wrong.Type) + " is " + is + "."
	}
	text := wrong.Field + " must be " + noun(declared)
	if is == "a number" && noun(wrong.Type) == "a number" { // which only one beyond its range is not
		return wrong.Field + " is a number that is too large."
	}
	if is == "a number" && noun(wrong.Type) == "a whole number" {
		return text + "; it has a fraction, or is too large."
	}
	if declared.Kind() == reflect.Slice && wrong.Type != declared {
		return text + "; one of its entries is " + is + "."
	}
	return text + "; it is " + is + "."
}

// noun describes the JSON values that a type holds.
func noun(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return noun(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		_, entry, _ := strings.Cut(noun(t.Elem()), " ")
		return "a list of " + entry + "s"
	case reflect.Map, reflect.Struct:
		return "an object"
	default:
		return "a whole number"
	}
}

// member returns the type of a member by its path, or nil.
func member(t reflect.Type, path []string) reflect.Type {
	for _, name := range path {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		i := slices.Index(members(t), name)
		if i < 0 {
			return nil
		}
		t = t.Field(i).Type
	}
	return t
}

// members are the names of the fields of a struct in JSON, in order.
func members(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" {
			name = t.Field(i).Name
		}
		names = append(names, name)
	}
	return names
}

func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "") + " alone"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
