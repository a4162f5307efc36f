package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// maxPackageFile limits a file of catalog coverage, in bytes.
const maxPackageFile = 64 << 20

func newCatalogCoverageCmd(env *Env) *cobra.Command {
	var f format
	var ecosystem string
	var unknown bool
	cmd := &cobra.Command{
		Use:   "coverage FILE...",
		Short: "Show which packages of a lockfile, manifest or list the catalogue knows",
		Long: `Show which packages the catalogue knows, and as what: a tool that competes in a category, an
outsider that is known there and does not compete, or a library for building your own (diy).

Files: package.json, package-lock.json, yarn.lock, pnpm-lock.yaml, bun.lock; requirements.txt,
pyproject.toml, poetry.lock, uv.lock, Pipfile; go.mod, go.sum; Cargo.toml, Cargo.lock; Gemfile,
Gemfile.lock; composer.json, composer.lock; pom.xml, build.gradle, gradle.lockfile; *.csproj,
Directory.Packages.props, packages.lock.json; Dockerfile, compose.yaml. Any other file, and - for
standard input, is a list: one package per line, or a JSON array; npm:stripe names the ecosystem,
--ecosystem that of all others, and without both any ecosystem matches.`,
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, cat, err := openCatalog(env, cmd)
			if err != nil {
				return err
			}
			if eco := catalog.Ecosystem(ecosystem); ecosystem != "" && !slices.Contains(catalog.Ecosystems(), eco) {
				return usageErr(fmt.Sprintf("one of %v", catalog.Ecosystems()), "unknown ecosystem %q", ecosystem)
			}
			return a.coverage(cat, coverageInput{args, catalog.Ecosystem(ecosystem), unknown}, f)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&ecosystem, "ecosystem", "", "ecosystem of the packages in a list")
	cmd.Flags().BoolVar(&unknown, "unknown", false, "show only the packages that the catalogue does not know")
	return cmd
}

type coverageInput struct {
	files     []string
	ecosystem catalog.Ecosystem
	unknown   bool
}

// A coveredPackage is a package and what the catalogue knows it as.
type coveredPackage struct {
	Package   string            `json:"package"`
	Ecosystem catalog.Ecosystem `json:"ecosystem"` // empty for any
	Known     bool              `json:"known"`
	Role      catalog.Role      `json:"role,omitempty"` // the strongest
	Owners    []catalog.Owner   `json:"owners"`
}

// An ecosystemCount counts the packages of an ecosystem.
type ecosystemCount struct {
	Ecosystem catalog.Ecosystem `json:"ecosystem"`
	Packages  int               `json:"packages"`
	Known     int               `json:"known"`
	Tools     int               `json:"tools"`
}

func (a *app) coverage(cat *catalog.Catalog, in coverageInput, f format) error {
	owners := catalog.NewOwners(cat)
	rows := []coveredPackage{}
	type key struct {
		eco  catalog.Ecosystem
		name string
	}
	seen := map[key]bool{}
	for _, file := range in.files {
		data, err := a.readPackages(file)
		if err != nil {
			return err
		}
		packages, err := packagesOf(file, data, in.ecosystem)
		if err != nil {
			return badInput(err)
		}
		for _, p := range packages {
			if k := (key{p.Ecosystem, p.Package}); !seen[k] {
				seen[k] = true
				p.Owners = ownersOf(owners, p)
				p.Role = catalog.Best(p.Owners)
				p.Known = p.Role != ""
				rows = append(rows, p)
			}
		}
	}
	counts := countEcosystems(rows)
	if in.unknown {
		rows = slices.DeleteFunc(rows, func(r coveredPackage) bool { return r.Known })
	}
	if f.json {
		return printJSON(a.env, map[string]any{"packages": rows, "ecosystems": counts})
	}
	for _, c := range counts {
		_, _ = fmt.Fprintf(a.env.Stderr, "%s: %d of %d packages known, %d competing\n", orAny(c.Ecosystem), c.Known, c.Packages, c.Tools)
	}
	t := table{header: []string{"package", "ecosystem", "known", "role", "owners"}}
	for _, r := range rows {
		t.add(r.Package, orAny(r.Ecosystem), yes(r.Known), dash(string(r.Role)), dash(strings.Join(ownerNames(r.Owners, r.Role), " ")))
	}
	return t.print(a.env, f)
}

func (a *app) readPackages(file string) ([]byte, error) {
	r := a.env.Stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, badInput(err)
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, maxPackageFile+1))
	switch {
	case err != nil:
		return nil, badInput(fmt.Errorf("%s: %w", file, err))
	case len(data) > maxPackageFile:
		return nil, usageErr("", "%s: more than %d bytes", file, maxPackageFile)
	}
	return data, nil
}

// packagesOf reads the packages of a lockfile, a manifest or a list.
func packagesOf(file string, data []byte, eco catalog.Ecosystem) ([]coveredPackage, error) {
	name := filepath.ToSlash(file)
	kind, names, err := manifest.Locked(name, data)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		var deps []manifest.Dep
		kind, deps = manifest.Deps(name, data)
		for _, d := range deps {
			names = append(names, d.Name)
		}
	}
	if kind != "" {
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no packages of %s in it; is it complete?", file, kind)
		}
		return ofEcosystem(catalog.Ecosystem(kind), names), nil
	}
	return listedPackages(file, data, eco)
}

func ofEcosystem(eco catalog.Ecosystem, names []string) []coveredPackage {
	out := make([]coveredPackage, 0, len(names))
	for _, n := range names {
		out = append(out, coveredPackage{Package: n, Ecosystem: eco})
	}
	return out
}

// listedPackages reads a list: one package per line, or a JSON array of names.
func listedPackages(file string, data []byte, eco catalog.Ecosystem) ([]coveredPackage, error) {
	var names []string
	if text := strings.TrimSpace(string(data)); strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{") {
		if err := json.Unmarshal(data, &names); err != nil {
			return nil, fmt.Errorf("%s: want a JSON array of package names: %w", file, err)
		}
	} else {
		names = strings.Split(text, "\n")
	}
	var out []coveredPackage
	for _, n := range names {
		n = strings.TrimSpace(n)
		if n == "" || strings.HasPrefix(n, "#") {
			continue
		}
		of := eco
		if prefix, rest, ok := strings.Cut(n, ":"); ok && slices.Contains(catalog.Ecosystems(), catalog.Ecosystem(prefix)) {
			of, n = catalog.Ecosystem(prefix), rest
		}
		out = append(out, coveredPackage{Package: n, Ecosystem: of})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no packages in it", file)
	}
	return out, nil
}

func ownersOf(o *catalog.Owners, p coveredPackage) []catalog.Owner {
	out := []catalog.Owner{}
	for _, eco := range catalog.Ecosystems() {
		if p.Ecosystem != "" && p.Ecosystem != eco {
			continue
		}
		for _, owner := range o.Package(eco, p.Package) {
			if !slices.Contains(out, owner) {
				out = append(out, owner)
			}
		}
	}
	return out
}

// ownerNames returns the owners of a role as category/slug.
func ownerNames(owners []catalog.Owner, role catalog.Role) []string {
	var out []string
	for _, o := range owners {
		if o.Role == role {
			out = append(out, o.Category+"/"+dash(o.Slug))
		}
	}
	return out
}

func orAny(eco catalog.Ecosystem) string {
	if eco == "" {
		return "any"
	}
	return string(eco)
}

// countEcosystems counts packages in the order of the ecosystems.
func countEcosystems(rows []coveredPackage) []ecosystemCount {
	out := []ecosystemCount{}
	for _, eco := range append(catalog.Ecosystems(), "") {
		c := ecosystemCount{Ecosystem: eco}
		for _, r := range rows {
			if r.Ecosystem != eco {
				continue
			}
			c.Packages++
			if r.Known {
				c.Known++
			}
			if r.Role == catalog.RoleTool {
				c.Tools++
			}
		}
		if c.Packages > 0 {
			out = append(out, c)
		}
	}
	return out
}
