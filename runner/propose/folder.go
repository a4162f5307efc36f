package propose

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// Limits of what is read of a folder.
const (
	maxFileBytes = 256 << 10
	maxFiles     = 60
	maxEntries   = 5000 // of all folders that are listed
	maxLevels    = 3
)

// Folder reads the files of a folder that describe a product: readmes, manifests, llms.txt
// and the index of its documentation. It reads regular files only: links are not followed,
// whether files or folders. A file is read to its first 256 KiB.
func Folder(files fs.FS) ([]Document, error) {
	f := &folder{files: files, left: maxEntries}
	if err := f.list(".", 0); err != nil {
		return nil, err
	}
	sorting.StableFunc(f.names, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	var docs []Document
	for _, name := range f.names[:min(len(f.names), maxFiles)] {
		text, err := readStart(files, name)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, Document{Name: name, Text: text})
	}
	return docs, nil
}

type folder struct {
	files fs.FS
	names []string
	left  int
}

func (f *folder) list(dir string, level int) error {
	entries, err := fs.ReadDir(f.files, dir)
	if err != nil {
		if level > 0 {
			return nil // a folder below that cannot be listed is left out
		}
		return err
	}
	for _, e := range entries {
		if f.left--; f.left < 0 {
			return nil
		}
		name := path.Join(dir, e.Name())
		switch {
		case e.Type().IsRegular() && describes(name):
			f.names = append(f.names, name)
		case e.IsDir() && level < maxLevels && !skipped(e.Name()):
			if err := f.list(name, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// skipped reports whether a folder holds no product of its own: dependencies, examples,
// tests, output.
func skipped(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	return slices.Contains(strings.Fields("node_modules vendor third_party thirdparty examples example samples sample demo demos test tests testing "+
		"testdata fixtures fixture e2e benchmark benchmarks bench dist build out target coverage tmp templates template playground sandbox storybook "+
		"scripts tools tooling bin venv env site-packages public assets static i18n locales archive deprecated legacy"), name)
}

// describes reports whether a file describes a product.
func describes(name string) bool {
	base, dir := strings.ToLower(path.Base(name)), strings.ToLower(path.Dir(name))
	stem := strings.TrimSuffix(base, path.Ext(base))
	isText := slices.Contains([]string{"", ".md", ".mdx", ".markdown", ".rst", ".txt", ".adoc", ".asciidoc", ".html", ".htm"}, path.Ext(base))
	top, _, _ := strings.Cut(dir, "/")
	inDocs := slices.Contains([]string{"docs", "doc", "documentation", "site", "website", "content", "guide"}, top)
	switch {
	case isManifest(base), base == "llms.txt":
		return !inDocs || base == "llms.txt"
	case !isText:
		return false
	case strings.HasPrefix(base, "readme"):
		return !inDocs || dir == top
	case dir == ".":
		return slices.Contains([]string{"index", "about", "introduction", "intro", "comparison", "alternatives"}, stem)
	}
	return inDocs && strings.Count(dir, "/") <= 1 &&
		(slices.Contains([]string{"index", "readme", "introduction", "intro", "overview", "about", "home", "what-is", "getting-started", "quickstart", "comparison", "comparisons", "alternatives"}, stem) ||
			strings.HasPrefix(stem, "compar") || strings.Contains(stem, "-vs-") || strings.HasPrefix(stem, "what-is-"))
}

func readStart(files fs.FS, name string) (text []byte, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrPermission) // replaced since it was listed
	}
	return io.ReadAll(io.LimitReader(f, maxFileBytes))
}
