package publish

import (
	"context"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish/storage"
)

// raced is a store in which another reader is quicker, a number of times.
type raced struct {
	storage.Store
	data  string
	times int
}

func (r *raced) Swap(ctx context.Context, name string, data []byte, etag string) (string, error) {
	if r.times > 0 {
		r.times--
		if _, err := r.Store.Swap(ctx, name, []byte(r.data), etag); err != nil {
			return "", err
		}
	}
	return r.Store.Swap(ctx, name, data, etag)
}

// TestTwoReadersCopyASignature: the second uses the copy of the first, or replaces an older one.
func TestTwoReadersCopyASignature(t *testing.T) {
	const id = "0123456789abcdef0123"
	from := storage.Folder(t.TempDir())
	if err := from.Put(t.Context(), id+"/"+signatureName, strings.NewReader("new")); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"new", "old"} {
		to := &raced{storage.Folder(t.TempDir()), data, 1}
		if err := copySignature(t.Context(), to, from, id); err != nil {
			t.Errorf("%s: %v", data, err)
		}
		if got, _, err := storage.ReadAll(t.Context(), to, id+"/"+signatureName); string(got) != "new" || err != nil {
			t.Errorf("%s: %q %v", data, got, err)
		}
	}
}
