package openapi_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/firstpick/firstpick/server/public/openapi"
)

// TestPackedIsCurrent: the description in the program is openapi.yaml.
func TestPackedIsCurrent(t *testing.T) {
	want, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(openapi.Source(), want) {
		t.Error("openapi.yaml.gz is not that of openapi.yaml: run gzip -9nkf openapi.yaml")
	}
}
