package servertest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// secretShapes are the values that nobody but their owner may read.
var secretShapes = regexp.MustCompile(`(?:clm|cvt|at|sin|ses|sk_live|pk_live|log_live)_[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+|[a-z]+@example\.com|"user_code":"[0-9]{6}"`)

// findLeaks looks for every secret, code, assertion and address that the
// conversation held in the server's log and in the store, as it lies on disk.
func (f *flow) findLeaks() {
	f.t.Helper()
	secrets := map[string]bool{}
	for _, found := range secretShapes.FindAllString(f.seen.String(), -1) {
		if code, ok := strings.CutPrefix(found, `"user_code":"`); ok {
			found = strings.TrimSuffix(code, `"`)
		}
		secrets[found] = true
	}
	if len(secrets) == 0 && !strings.Contains(f.t.Name(), "discovery") {
		f.t.Error("the conversation held no secret to look for")
	}
	var backup bytes.Buffer
	if _, err := f.s.Agents.DB.Backup(f.t.Context(), &backup); err != nil {
		f.t.Fatal(err)
	}
	f.s.Stop()
	places := map[string]string{"the log": f.s.Log.String(), "the store": f.plain(&backup)}
	for _, file := range f.files() {
		data, err := os.ReadFile(file)
		if err != nil {
			f.t.Fatal(err)
		}
		places[filepath.Base(file)] = string(data)
	}
	for place, text := range places {
		for s := range secrets {
			if len(s) == 6 { // a code may stand in a longer number, or count microseconds
				if regexp.MustCompile(`[^0-9:]`+s+`[^0-9]`).MatchString(text) && place != "state.db" && place != "state.db-wal" {
					f.t.Errorf("%s holds the code %s", place, s)
				}
			} else if strings.Contains(text, s) {
				f.t.Errorf("%s holds %s", place, s)
			}
		}
	}
	if !strings.Contains(places["the log"], `"msg":"request"`) {
		f.t.Error("there is no access log to look into")
	}
}

// files are those of a store in the file system.
func (f *flow) files() []string {
	if f.file == "" {
		return nil
	}
	files, err := filepath.Glob(f.file + "*")
	if err != nil || len(files) == 0 {
		f.t.Fatal("no files of the store", err)
	}
	return files
}

// plain returns all values of a backup, bytes as they are.
func (f *flow) plain(backup io.Reader) string {
	z, err := zstd.NewReader(backup)
	if err != nil {
		f.t.Fatal(err)
	}
	defer z.Close()
	var out strings.Builder
	dec := json.NewDecoder(z)
	for dec.More() {
		var row struct {
			V []any `json:"v"`
		}
		if err := dec.Decode(&row); err != nil {
			f.t.Fatal(err)
		}
		for _, v := range row.V {
			switch v := v.(type) {
			case string:
				out.WriteString(v + "\n")
			case map[string]any:
				data, err := base64.StdEncoding.DecodeString(v["b"].(string))
				if err != nil {
					f.t.Fatal(err)
				}
				out.Write(append(data, '\n'))
			}
		}
	}
	return out.String()
}
