package setup_test

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/server/channel/setup"
)

const base = "https://collect.example"

func TestGuideIsShortAndNamesEveryRecipe(t *testing.T) {
	guide := setup.Guide(base)
	if n := len(guide); n > 12<<10 {
		t.Errorf("setup.md has %d bytes", n)
	}
	for _, slug := range setup.Slugs() {
		if !strings.Contains(guide, base+"/setup/"+slug+".md") {
			t.Errorf("setup.md does not lead to %s", slug)
		}
	}
	for _, anchor := range []string{"key", "secrets", "detect", "install", "env", "prove", "sent", "conversions", "links", "remove"} {
		if strings.Count(guide, `<a id="`+anchor+`"></a>`) != 1 {
			t.Errorf("setup.md has no anchor %s", anchor)
		}
	}
}

// link finds where documents lead: to the service, and to what stands in them.
var link = regexp.MustCompile(regexp.QuoteMeta(base) + `(/[a-z./-]*)(#[a-z]+)?`)

func TestDocumentsNameTheServiceAndLeadSomewhere(t *testing.T) {
	documents := map[string]string{"/setup.md": setup.Guide(base), "/docs/attribution.md": setup.Attribution(base)}
	for _, s := range setup.Stacks() {
		documents["/setup/"+s.Slug+".md"] = s.Recipe(base)
	}
	elsewhere := []string{"/api/", "/auth.md", "/openapi.yaml"}
	for path, text := range documents {
		if strings.Contains(text, setup.Placeholder) || strings.Contains(text, "<no value>") {
			t.Errorf("%s is not filled in", path)
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, known := documents[strings.TrimRight(m[1], ".")]
			if !known {
				known = m[1] == "/" || strings.HasPrefix(m[1], elsewhere[0]) || strings.TrimRight(m[1], ".") == elsewhere[1] || strings.TrimRight(m[1], ".") == elsewhere[2]
				if !known || m[2] != "" {
					t.Errorf("%s leads to %s%s, which is nowhere", path, m[1], m[2])
				}
			} else if m[2] != "" && !strings.Contains(target, `<a id="`+m[2][1:]+`"></a>`) {
				t.Errorf("%s leads to %s%s, which has no such anchor", path, m[1], m[2])
			}
		}
	}
}

func TestRecipesHoldAllTheirCode(t *testing.T) {
	for _, s := range setup.Stacks() {
		text := s.Recipe(base)
		for _, f := range s.Files {
			if code := f.Code(base); !strings.Contains(text, "### `"+f.Path+"`\n\n```"+f.Language()+"\n"+code+"```\n") || strings.Contains(code, "firstpick.example") {
				t.Errorf("%s: %s is not in the recipe as it is", s.Slug, f.Path)
			}
		}
		if s.Way == setup.ByCode && s.Slug != "static" && !strings.Contains(text, "FIRSTPICK_KEY") || strings.Count(text, "```")%2 != 0 {
			t.Errorf("%s: no key, or an open fence", s.Slug)
		}
	}
}

func TestFind(t *testing.T) {
	if s, ok := setup.Find("express"); !ok || s.Title != "Express and Connect" {
		t.Errorf("express: %v", s)
	}
	if s, ok := setup.Find("cobol"); ok {
		t.Errorf("cobol: %v", s)
	}
}

// pattern finds the expressions of the JavaScript core.
var pattern = regexp.MustCompile(`(?m)^const ([A-Z]+) = /(.+)/(i?);$`)

// The other languages filter by the very same expressions.
func TestPatternsAreTheSameInAllLanguages(t *testing.T) {
	core, err := os.ReadFile("code/js/agent-collect.mjs")
	if err != nil {
		t.Fatal(err)
	}
	patterns := pattern.FindAllStringSubmatch(string(core), -1)
	if len(patterns) != 7 {
		t.Fatalf("the core has %d expressions", len(patterns))
	}
	for file, form := range map[string]func(name, text, flag string) string{
		"code/python/agent_collect.py": func(name, text, flag string) string {
			return name + ` = re.compile(r"` + text + `"` + map[string]string{"i": ", re.I"}[flag] + ")\n"
		},
		"code/ruby/agent_collect.rb": func(name, text, flag string) string { return name + " = %r{" + text + "}" + flag + "\n" },
		"code/php/agent-collect.php": func(name, text, flag string) string { return name + " = '~" + text + "~" + flag + "';\n" },
	} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range patterns {
			if want := form(p[1], p[2], p[3]); !strings.Contains(string(code), want) {
				t.Errorf("%s lacks %s", file, want)
			}
		}
	}
}

// expression returns one of the core's, for Go, which has no look-ahead.
func expression(t *testing.T, name string) *regexp.Regexp {
	t.Helper()
	core, err := os.ReadFile("code/js/agent-collect.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pattern.FindAllStringSubmatch(string(core), -1) {
		if p[1] == name {
			text := strings.ReplaceAll(strings.ReplaceAll(p[2], `(?!msie|konq)`, `([^mk]|m[^s]|k[^o])`), `\/`, `/`)
			return regexp.MustCompile("(?" + p[3] + "i)" + text)
		}
	}
	t.Fatal("no " + name)
	return nil
}

// rows returns the fields of a table that package agentid keeps.
func rows(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("../agentid/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]string
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && line[0] != '#' {
			all = append(all, strings.Split(line, "\t"))
		}
	}
	return all
}

// The code in a site leaves out browsers of people, and no agent that counts.
func TestUserAgentsThatAreReported(t *testing.T) {
	browser, mark := expression(t, "BROWSER"), expression(t, "MARK")
	reported := func(ua string) bool { return !browser.MatchString(ua) || mark.MatchString(ua) }
	agents := 0
	for _, f := range rows(t, "data/agents.tsv") {
		switch class, sample := f[4], f[len(f)-1]; strings.TrimSuffix(class, "!") {
		case "training_crawler", "search_index", "user_fetch", "agentic_browser", "coding_agent", "data_provider", "search_engine":
			agents++
			if !reported(sample) {
				t.Errorf("%s %q is not reported", class, sample)
			}
		}
	}
	people := rows(t, "testdata/browsers.txt")
	for _, f := range people {
		if reported(f[0]) {
			t.Errorf("a person with %q is reported", f[0])
		}
	}
	if agents < 150 || len(people) < 200 {
		t.Errorf("%d agents and %d browsers were looked at", agents, len(people))
	}
}

func TestReferrersThatAreReported(t *testing.T) {
	assistant := expression(t, "ASSISTANT")
	n := 0
	for _, file := range []string{"data/assistants.tsv", "data/referrers.tsv"} {
		for _, f := range rows(t, file) {
			if strings.HasPrefix(f[0], "utm:") {
				continue
			}
			n++
			if !assistant.MatchString("https://"+f[0]) || !assistant.MatchString("https://www."+f[0]+"/x") {
				t.Errorf("a person from %s is not reported", f[0])
			}
		}
	}
	if n < 40 {
		t.Errorf("%d assistants were looked at", n)
	}
	for _, other := range []string{"", "https://www.google.com/", "https://acme.dev/chatgpt.com", "https://notchatgpt.com/", "https://chatgpt.com.evil.example/", "https://x.com/", "https://kagi.com/", "https://mistral.ai/"} {
		if assistant.MatchString(other) {
			t.Errorf("a person from %q is reported", other)
		}
	}
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		files string // name, and content after =
		want  string
	}{
		"nothing":                           {"README.md", ""},
		"Next by its configuration":         {"next.config.mjs", "nextjs next.config.mjs"},
		"Next on Vercel, by its dependency": {`package.json={"dependencies":{"next":"16"}} vercel.json={}`, "nextjs package.json depends on next, vercel vercel.json"},
		"a damaged package.json":            {`package.json={"dependencies":{"express"`, ""},
		"a name that only looks like it":    {`package.json={"dependencies":{"express-session":"1"}}`, ""},
		"Express in a folder":               {`package.json={} apps/api/package.json={"dependencies":{"express":"5"}}`, "express apps/api/package.json depends on express"},
		"the nearest of two":                {`a/b/go.mod= c/go.mod=`, "go c/go.mod"},
		"what others wrote":                 {`node_modules/x/package.json={"dependencies":{"fastify":"5"}}`, ""},
		"Hono on a Worker":                  {`package.json={"devDependencies":{"hono":"4"}} wrangler.jsonc={}`, "hono package.json depends on hono, cloudflare-worker wrangler.jsonc"},
		"Django":                            {"manage.py", "python manage.py"},
		"FastAPI":                           {"pyproject.toml=dependencies=[\"fastapi>=0.1\"]", "python pyproject.toml holds fastapi"},
		"a Python script":                   {"requirements.txt=numpy", ""},
		"Rails":                             {"Gemfile=\"rails\"", `rails Gemfile holds rails`},
		"Laravel":                           {"artisan composer.json={}", "php composer.json"},
		"WordPress is not plain PHP":        {"wp-config.php index.php", "wordpress wp-config.php"},
		"nginx by what a file holds":        {"deploy/site.conf=server{", "nginx deploy/site.conf holds server"},
		"Apache":                            {"deploy/site.conf=<VirtualHost", "apache deploy/site.conf holds VirtualHost"},
		"Caddy":                             {"Caddyfile", "caddy Caddyfile"},
		"a static site":                     {"index.html CNAME", "static CNAME"},
		"pages with a server":               {"index.html go.mod", "go go.mod"},
		"a static site that sells":          {`index.html package.json={"dependencies":{"stripe":"1"}}`, "static index.html, conversions package.json depends on stripe"},
		"an MCP server":                     {`package.json={"dependencies":{"@modelcontextprotocol/sdk":"1"}}`, "mcp package.json depends on @modelcontextprotocol/sdk"},
		"Netlify":                           {"netlify.toml", "netlify netlify.toml"},
		"logs":                              {"logs/access.log.1", "logs logs/access.log.1"},
	} {
		t.Run(name, func(t *testing.T) {
			project := fstest.MapFS{}
			for f := range strings.FieldsSeq(c.files) {
				path, content, _ := strings.Cut(f, "=")
				project[path] = &fstest.MapFile{Data: []byte(content)}
			}
			found, err := setup.Detect(project)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, strings.TrimSpace(f.Stack.Slug+" "+f.File+" "+f.Why))
			}
			if g := strings.Join(got, ", "); g != c.want {
				t.Errorf("%s\nwant %s", g, c.want)
			}
		})
	}
}

func TestDetectWhereNothingIs(t *testing.T) {
	if _, err := setup.Detect(os.DirFS("testdata/none")); err == nil {
		t.Error("a folder that is not there has stacks")
	}
}
