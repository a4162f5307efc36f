package trialstore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
)

// fill sets every field to another value: one that is not encoded is lost.
func fill(v reflect.Value, n *int) {
	switch *n++; v.Kind() {
	case reflect.Int:
		v.SetInt(int64(*n) << (*n % 40))
	case reflect.String:
		v.SetString(fmt.Sprint("name ", *n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.UnixMicro(int64(*n) * 1e12).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("a field of type " + v.Type().String())
	}
}

func TestCellsAreEncodedWhole(t *testing.T) {
	n := 0
	cells := make([]analytics.Cell, 5)
	for i := range cells {
		fill(reflect.ValueOf(&cells[i]).Elem(), &n)
	}
	cells[3] = analytics.Cell{Agent: cells[0].Agent, LastAt: time.Unix(-5, 0).UTC()}
	data := encodeCells(cells)
	got, err := decodeCells(data)
	if d := cmp.Diff(cells, got); d != "" || err != nil {
		t.Fatalf("%v\n%s", err, d)
	}
	if got, err := decodeCells(encodeCells(nil)); len(got) != 0 || err != nil {
		t.Errorf("no cells: %v, %v", got, err)
	}
	for i := range data {
		if _, err := decodeCells(data[:i]); err == nil {
			t.Errorf("cut to %d bytes of %d: no error", i, len(data))
		}
		data[i] ^= 0xff
		_, _ = decodeCells(data) // whatever it is, not a panic
		data[i] ^= 0xff
	}
	if _, err := decodeCells(append(data, 0)); err == nil {
		t.Error("a byte too many: no error")
	}
}
