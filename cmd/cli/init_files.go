package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/propose"
)

// A newFile is a file that init --from writes.
type newFile struct {
	path string
	// before is nil for a file that does not exist.
	before, after []byte
	// summary stands for the content of a file of the program's own.
	summary string
	// base is what the diff compares with, where it is not before.
	base []byte
}

// asBuiltIn is the summary of a file of the built-in catalogue.
const asBuiltIn = "as built in"

// diffOf returns the files as a diff. The files of the built-in catalogue are one line.
func diffOf(files []newFile) string {
	var b strings.Builder
	dir, n := "", 0
	for _, f := range files {
		if f.summary == asBuiltIn {
			dir, n = filepath.Dir(f.path), n+1
			continue
		}
		b.WriteString(f.diff())
	}
	if n > 0 {
		fmt.Fprintf(&b, "+++ %s (%s of the built-in catalogue, unchanged)\n", dir, counted(n, "more file"))
	}
	return b.String()
}

// diff returns the file as a unified diff.
func (f newFile) diff() string {
	if f.summary != "" {
		return fmt.Sprintf("+++ %s (%s)\n", f.path, f.summary)
	}
	from, name := f.before, f.path
	if f.base != nil {
		from, name = f.base, "the built-in "+filepath.Base(f.path)
	} else if from == nil {
		name = "/dev/null"
	}
	old, changed := linesOf(from), linesOf(f.after)
	start := 0
	for start < len(old) && start < len(changed) && old[start] == changed[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(changed)-start && old[len(old)-1-end] == changed[len(changed)-1-end] {
		end++
	}
	removed, added := old[start:len(old)-end], changed[start:len(changed)-end]
	at := func(n int) int {
		if n == 0 {
			return start
		}
		return start + 1
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", name, f.path, at(len(removed)), len(removed), at(len(added)), len(added))
	for _, l := range removed {
		b.WriteString("-" + l + "\n")
	}
	for _, l := range added {
		b.WriteString("+" + l + "\n")
	}
	return printableText(b.String())
}

func linesOf(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// write writes the file. A file that was created or changed since it was read is an error.
func (f newFile) write(env *Env) error {
	if f.before == nil {
		if err := writeNew(f.path, f.after); err != nil {
			return badInput(err)
		}
	} else {
		now, err := os.ReadFile(f.path)
		if err == nil && !bytes.Equal(now, f.before) {
			err = fmt.Errorf("%s was changed meanwhile", f.path)
		}
		if err == nil {
			_, err = writeWhole(f.path, bytes.NewReader(f.after))
		}
		if err != nil {
			return badInput(err)
		}
	}
	if f.summary == "" {
		_, _ = fmt.Fprintf(env.Stderr, "written %s\n", f.path)
	}
	return nil
}

// A baseCatalog is the catalogue that a proposal begins with.
type baseCatalog struct {
	files catalogFiles
	// dir is the folder of the catalogue; builtIn says that it does not exist yet.
	dir     string
	builtIn bool
}

func (o *fromOptions) baseCatalog() (baseCatalog, error) {
	if o.cfg.Catalog != "" {
		files, err := readCatalogFiles(o.cfg.Catalog)
		if err == nil && len(files) == 0 {
			err = usageErr("--catalog must be a folder of .yaml files", "catalog: %s has no .yaml file", o.cfg.Catalog)
		}
		return baseCatalog{files: files, dir: o.cfg.Catalog}, err
	}
	base := baseCatalog{files: catalogFiles{}, dir: filepath.Join(o.dir, "catalog"), builtIn: true}
	names, err := fs.Glob(fixtures.Files(), "catalog/*.yaml")
	for _, name := range names {
		data, readErr := fs.ReadFile(fixtures.Files(), name)
		base.files[filepath.Base(name)], err = data, errors.Join(err, readErr)
	}
	return base, err
}

// with returns the files with one more tool in a category.
func (f catalogFiles) with(category string, m catalog.NewMember) (catalogFiles, error) {
	changed := maps.Clone(f)
	name := f.of(category)
	text, err := catalog.Insert(f[name], m, false)
	if err != nil {
		return nil, badInput(fmt.Errorf("%s: %w", name, err))
	}
	changed[name] = text
	return changed, nil
}

// files returns everything that a proposal writes: the catalogue if the product has an entry
// there now, the eval, and what init writes beside them. Existing files are kept.
func (o *fromOptions) files(p propose.Product, base baseCatalog, changed catalogFiles, evalFile newFile) ([]newFile, error) {
	if _, err := os.Lstat(evalFile.path); err == nil {
		return nil, usageErr("edit it, or rename it first", "%s exists already", evalFile.path)
	}
	config := newFile{path: filepath.Join(o.dir, configName), after: scaffoldConfig}
	now, err := os.ReadFile(config.path)
	switch {
	case err == nil:
		config.before, config.after = now, now
	case !errors.Is(err, fs.ErrNotExist):
		return nil, badInput(err)
	}
	var out []newFile
	if p.Known == "" {
		out = catalogDiff(base, changed)
		if _, err := os.Lstat(base.dir); err == nil && base.builtIn {
			return nil, usageErr("--catalog "+base.dir+" uses it", "%s exists, and the configuration does not name it", base.dir)
		}
		if base.builtIn {
			config.after = withCatalog(config.after)
		}
	}
	if config.before == nil || !bytes.Equal(config.before, config.after) {
		out = append(out, config)
	}
	out = append(out, evalFile)
	for _, f := range []newFile{
		{path: filepath.Join(o.dir, "evals", "eval.schema.json"), after: eval.Schema(), summary: "the schema of eval files, for editors"},
		{path: filepath.Join(o.dir, ".gitignore"), after: []byte(".firstpick/\n*.pem\n")},
	} {
		if _, err := os.Lstat(f.path); errors.Is(err, fs.ErrNotExist) {
			out = append(out, f)
		}
	}
	return out, nil
}

// catalogDiff returns the changed file of the catalogue; of a built-in one all files, for
// they become a folder.
func catalogDiff(base baseCatalog, changed catalogFiles) (out []newFile) {
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		f := newFile{path: filepath.Join(base.dir, name), after: changed[name]}
		same := bytes.Equal(base.files[name], changed[name])
		switch {
		case !base.builtIn && same:
			continue
		case !base.builtIn:
			f.before = base.files[name]
		case same:
			f.summary = asBuiltIn
		default:
			f.base = base.files[name]
		}
		out = append(out, f)
	}
	return out
}

// withCatalog returns a configuration that names the folder of the catalogue.
func withCatalog(config []byte) []byte {
	const key = "catalog: catalog   # folder of catalogue files; empty: the built-in catalogue"
	lines := linesOf(config)
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "catalog:") })
	if i < 0 {
		return []byte(strings.Join(append(lines, key), "\n") + "\n")
	}
	lines[i] = key
	return []byte(strings.Join(lines, "\n") + "\n")
}
