package apierr

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestEveryCodeIsInTheTable reads the source of the server: whatever code an error is
// made with is in the table, once.
func TestEveryCodeIsInTheTable(t *testing.T) {
	table := map[string]Documented{}
	for _, c := range Codes() {
		if _, twice := table[c.Code]; twice || !regexp.MustCompile(`^[a-z_]+$`).MatchString(c.Code) || http.StatusText(c.Status) == "" || !strings.HasSuffix(c.Text, ".") {
			t.Errorf("%+v", c)
		}
		table[c.Code] = c
	}
	used := map[string]string{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
					value = n.Value
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Refused" && len(n.Args) == 2 {
					value = n.Args[0]
				}
			}
			if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if code, err := strconv.Unquote(lit.Value); err == nil {
					used[code] = path
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for code, path := range used {
		if _, ok := table[code]; !ok && code != "client_closed_request" { // which nobody reads
			t.Errorf("%s makes an error %s, which is not in the table", path, code)
		}
	}
	if len(used) < 30 {
		t.Errorf("only %d codes were found", len(used))
	}
	for code, c := range table { // and statuses that are made of the table's own constructors
		for _, e := range []*Error{InvalidRequest(""), ToolNotFound("", nil), CategoryNotFound(nil), NotFound(), MethodNotAllowed(), RateLimited(1), Internal(nil), Unavailable(), AccessDenied(""), Unauthorized(), InvalidToken(), InsufficientScope("", ""), TooLarge()} {
			if e.Code == code && e.Status != c.Status {
				t.Errorf("%s is %d in the table, and %d", code, c.Status, e.Status)
			}
		}
	}
}
