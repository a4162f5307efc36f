package pick_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const shopCatalog = `
category:
  slug: shop
  name: Shop
  domain: saas
  summary: Things for a shop.
  outside:
    - {slug: express, name: Express, packages: {npm: [express]}}
  diy:
    packages: {npm: [nodemailer], pypi: [aiosmtplib]}
    imports: {pypi: [smtplib], go: [net/smtp]}
tools:
  - slug: stripe
    name: Stripe
    packages:
      npm: [stripe, "@stripe/stripe-js"]
      pypi: [stripe]
      go: [github.com/stripe/stripe-go]
      cargo: [async-stripe]
      rubygems: [stripe]
      composer: [stripe/stripe-php]
      maven: ["com.stripe:stripe-java"]
      nuget: [Stripe.net]
      docker: [stripe/stripe-cli]
      system: [stripe-cli]
    imports: {maven: [com.stripe], nuget: [Stripe], rubygems: [stripe], composer: [Stripe], cargo: [stripe]}
    hosts: [api.stripe.com]
    env: ["STRIPE_*"]
    files: [stripe.config.js]
  - slug: paddle
    name: Paddle
    packages: {npm: ["@paddle/paddle-node-sdk"], pypi: [paddle-python-sdk], go: [github.com/PaddleHQ/paddle-go-sdk]}
    imports: {pypi: [paddle_billing]}
    hosts: [api.paddle.com]
    env: ["PADDLE_*"]
  - slug: ses
    name: Amazon SES
    services: {aws: [ses, sesv2]}
    aliases: [{text: SES, case: exact}]
  - slug: cognito
    name: Cognito
    services: {aws: [cognito-idp, cognito, cognito-identity-provider], firebase: [], supabase: []}
  - {slug: firebase-auth, name: Firebase Auth, services: {firebase: [auth]}}
  - {slug: gcs, name: Cloud Storage, services: {gcp: [storage]}}
  - {slug: azure-blob, name: Azure Blob, services: {azure: [storage-blob]}}
  - slug: supabase-storage
    name: Supabase Storage
    packages: {npm: ["@supabase/supabase-js"]}
    env: ["SUPABASE_*"]
    services: {supabase: [storage]}
  - {slug: s3, name: S3, packages: {pypi: [boto3], npm: [aws-sdk]}, services: {aws: [s3]}}
  - {slug: react, name: React, packages: {npm: [react]}}
  - {slug: next, name: Next.js, packages: {npm: [next, create-next-app]}, built_on: [react]}
  - {slug: redis, name: Redis, packages: {docker: [redis], system: [redis]}}
`

// shop is the extractor of a category made for these tests.
func shop(t testing.TB) *pick.Extractor {
	t.Helper()
	c, err := catalog.Load(fstest.MapFS{"shop.yaml": {Data: []byte(shopCatalog)}}, ".")
	if err != nil {
		t.Fatal(err)
	}
	return extractor(t, c, "shop")
}

// added is an answer that added lines to a file.
func added(path, text string) transcript.Transcript {
	return transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: path, Added: strings.Split(text, "\n")}}}
}

// ran is an answer that ran commands; a command that begins with ! failed.
func ran(commands ...string) transcript.Transcript {
	out := transcript.Transcript{FinalText: "Done."}
	for _, c := range commands {
		cmd, failed := strings.CutPrefix(c, "!")
		exit := 0
		if failed {
			exit = 1
		}
		out.Commands = append(out.Commands, transcript.Command{Cmd: cmd, Exit: &exit})
	}
	return out
}

func said(text string) transcript.Transcript { return transcript.Transcript{FinalText: text} }

type want struct {
	in   transcript.Transcript
	want string
}

func hold(t *testing.T, table map[string]want) {
	t.Helper()
	x := shop(t)
	for name, c := range table {
		if r := x.Extract(c.in); label(r) != c.want {
			t.Errorf("%s: %s, want %s (%+v)", name, label(r), c.want, r.Evidence)
		}
	}
}

// A manifest is read from its added lines, with or without what stands around them.
func TestManifestLines(t *testing.T) {
	hold(t, map[string]want{
		"package.json, one line":                 {added("package.json", `    "stripe": "^17.0.0",`), "tool:stripe"},
		"package.json, whole":                    {added("package.json", "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"stripe\": \"latest\"\n  }\n}"), "tool:stripe"},
		"package.json, on one line":              {added("package.json", `{"name":"x","scripts":{"dev":"x"},"dependencies":{"left-pad":"1","stripe":"^17"}}`), "tool:stripe"},
		"package.json, a catalog":                {added("package.json", `  "stripe": "catalog:",`), "tool:stripe"},
		"package.json, a script":                 {added("package.json", "  \"scripts\": {\n    \"stripe\": \"~/bin/stripe\"\n  }"), "none"},
		"package.json, its own name":             {added("package.json", `  "name": "stripe",`), "none"},
		"package.json, an override":              {added("package.json", "  \"overrides\": {\n    \"stripe\": \"17\"\n  }"), "none"},
		"requirements":                           {added("requirements.txt", "stripe>=5,<6  # payments"), "tool:stripe"},
		"requirements, a comment":                {added("requirements.txt", "# stripe==5"), "none"},
		"requirements of developers":             {added("requirements/dev.txt", "Stripe[async]==5"), "tool:stripe"},
		"requirements, an option":                {added("requirements.txt", "-r stripe"), "none"},
		"pyproject, PEP 621":                     {added("pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\n  \"fastapi[all]>=0.1\",\n  \"stripe>=5\",\n]"), "tool:stripe"},
		"pyproject, one item":                    {added("pyproject.toml", `    "stripe>=5",`), "tool:stripe"},
		"pyproject, on one line":                 {added("pyproject.toml", `dependencies = ["a[b]", "stripe"]`), "tool:stripe"},
		"pyproject, poetry":                      {added("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3.12\"\nstripe = \"^5\""), "tool:stripe"},
		"pyproject, poetry, a table":             {added("pyproject.toml", `stripe = { version = "^5", extras = ["async"] }`), "tool:stripe"},
		"pyproject, dependency groups":           {added("pyproject.toml", "[dependency-groups]\ndev = [\"pytest\", \"stripe\"]"), "tool:stripe"},
		"pyproject, extras":                      {added("pyproject.toml", "[project.optional-dependencies]\npay = [\n 'stripe ~= 5.0',\n]"), "tool:stripe"},
		"pyproject, another table":               {added("pyproject.toml", "[tool.ruff]\nstripe = \"1.0\"\nselect = [\"stripe>=1\"]"), "none"},
		"pyproject, the build":                   {added("pyproject.toml", "[build-system]\nrequires = [\"stripe>=5\"]"), "none"},
		"Pipfile":                                {added("Pipfile", "[packages]\nstripe = \"*\""), "tool:stripe"},
		"setup.py":                               {added("setup.py", "setup(\n  name='stripe',\n  install_requires=[\n    'stripe>=5',\n  ],\n)"), "tool:stripe"},
		"setup.py, its own name":                 {added("setup.py", "setup(name='stripe', packages=['stripe'])"), "none"},
		"setup.cfg":                              {added("setup.cfg", "[options]\ninstall_requires =\n    requests\n    stripe>=5"), "tool:stripe"},
		"go.mod":                                 {added("go.mod", "\tgithub.com/stripe/stripe-go/v81 v81.0.0"), "tool:stripe"},
		"go.mod, indirect":                       {added("go.mod", "\tgithub.com/stripe/stripe-go/v81 v81.0.0 // indirect"), "none"},
		"go.mod, require":                        {added("go.mod", "require github.com/stripe/stripe-go/v81 v81.0.0"), "tool:stripe"},
		"Cargo, one line":                        {added("Cargo.toml", `async-stripe = "0.39"`), "tool:stripe"},
		"Cargo, features":                        {added("Cargo.toml", "[dependencies]\nasync-stripe = { version = \"0.39\", features = [\"a\"] }"), "tool:stripe"},
		"Cargo, of the workspace":                {added("Cargo.toml", `async-stripe.workspace = true`), "tool:stripe"},
		"Cargo, a table of its own":              {added("Cargo.toml", "[dependencies.async-stripe]\nversion = \"0.39\""), "tool:stripe"},
		"Cargo, another name":                    {added("Cargo.toml", `pay = { package = "async-stripe", version = "0.39" }`), "tool:stripe"},
		"Cargo, a target":                        {added("Cargo.toml", "[target.'cfg(unix)'.dependencies]\nasync_stripe = \"0.39\""), "tool:stripe"},
		"Cargo, a path":                          {added("Cargo.toml", "[dependencies]\nasync-stripe = { path = \"../stripe\" }"), "none"},
		"Cargo, features of its own":             {added("Cargo.toml", "[features]\nasync-stripe = []"), "none"},
		"csproj":                                 {added("Pay/Pay.csproj", `    <PackageReference Include="Stripe.net" Version="47.1.0" />`), "tool:stripe"},
		"csproj, over two lines":                 {added("Pay.csproj", "<PackageReference Include=\"stripe.net\">\n  <Version>47</Version>\n</PackageReference>"), "tool:stripe"},
		"Directory.Packages.props":               {added("Directory.Packages.props", `<PackageVersion Include="Stripe.net" Version="47.1.0" />`), "tool:stripe"},
		"packages.config":                        {added("packages.config", `  <package id="Stripe.net" version="47.1.0" targetFramework="net48" />`), "tool:stripe"},
		"csproj, commented out":                  {added("Pay.csproj", "<!--\n<PackageReference Include=\"Stripe.net\" Version=\"47\" />\n-->"), "none"},
		"Gradle":                                 {added("app/build.gradle", `    implementation 'com.stripe:stripe-java:28.1.0'`), "tool:stripe"},
		"Gradle, Kotlin":                         {added("build.gradle.kts", `    implementation("com.stripe:stripe-java:28.1.0")`), "tool:stripe"},
		"Gradle, a map":                          {added("build.gradle", `implementation group: 'com.stripe', name: 'stripe-java', version: '28'`), "tool:stripe"},
		"Gradle, commented out":                  {added("build.gradle", `// implementation 'com.stripe:stripe-java:28.1.0'`), "none"},
		"version catalog":                        {added("gradle/libs.versions.toml", `stripe = { module = "com.stripe:stripe-java", version.ref = "stripe" }`), "tool:stripe"},
		"version catalog, group and name":        {added("gradle/libs.versions.toml", "[libraries]\npay = { group = \"com.stripe\", name = \"stripe-java\", version = \"28\" }"), "tool:stripe"},
		"version catalog, short":                 {added("gradle/libs.versions.toml", `pay = "com.stripe:stripe-java:28"`), "tool:stripe"},
		"pom.xml":                                {added("pom.xml", "<dependency>\n  <groupId>com.stripe</groupId>\n  <artifactId>stripe-java</artifactId>\n  <version>28</version>\n</dependency>"), "tool:stripe"},
		"pom.xml, on one line":                   {added("pom.xml", "<dependency><groupId>com.stripe</groupId><artifactId>stripe-java</artifactId></dependency>"), "tool:stripe"},
		"pom.xml, only the artifact":             {added("pom.xml", "      <artifactId>stripe-java</artifactId>"), "tool:stripe"},
		"pom.xml, a plugin":                      {added("pom.xml", "<plugin><groupId>com.stripe</groupId><artifactId>stripe-java</artifactId></plugin>"), "none"},
		"pyproject, a pinned item":               {added("pyproject.toml", `    "stripe==5.1.0",`), "tool:stripe"},
		"package.json, a command":                {added("package.json", `    "stripe": "vite build"`), "none"},
		"pom.xml, an exclusion":                  {added("pom.xml", "<exclusions><exclusion><groupId>com.stripe</groupId>\n<artifactId>stripe-java</artifactId></exclusion></exclusions>"), "none"},
		"pom.xml, two artifacts mixed":           {added("pom.xml", "<dependency><groupId>com.stripe</groupId></dependency><dependency><groupId>a</groupId><artifactId>stripe-java</artifactId></dependency>"), "none"},
		"Gemfile":                                {added("Gemfile", `gem "stripe", "~> 13.0"`), "tool:stripe"},
		"gemspec":                                {added("x.gemspec", `  spec.add_dependency "stripe", ">= 13"`), "tool:stripe"},
		"composer.json":                          {added("composer.json", `        "stripe/stripe-php": "^16.0"`), "tool:stripe"},
		"composer.json, whole":                   {added("composer.json", "{\"require\": {\"php\": \">=8\", \"stripe/stripe-php\": \"*\"}}"), "tool:stripe"},
		"deno.json":                              {added("deno.json", `    "stripe": "npm:stripe@^17.0.0"`), "tool:stripe"},
		"deno.json, another registry":            {added("deno.json", `    "stripe": "jsr:@std/stripe@1"`), "none"},
		"Dockerfile":                             {added("Dockerfile", "FROM --platform=linux/amd64 docker.io/library/redis:8 AS db\nFROM db"), "tool:redis"},
		"Dockerfile, a command":                  {added("Dockerfile", "FROM scratch\nRUN apt-get update && \\\n    apt-get install -y --no-install-recommends redis"), "tool:redis"},
		"Dockerfile, a stage of that name":       {added("Dockerfile", "FROM alpine AS redis\nFROM redis"), "none"},
		"compose":                                {added("docker-compose.yml", "services:\n  cache:\n    image: redis:8-alpine"), "tool:redis"},
		"Brewfile":                               {added("Brewfile", `brew "redis"`), "tool:redis"},
		"conda":                                  {added("environment.yml", "dependencies:\n  - python=3.12\n  - pip:\n    - stripe==5"), "tool:stripe"},
		"a lock file names what others need":     {added("package-lock.json", `    "stripe": "^17.0.0",`), "none"},
		"a developers' dependency is weaker":     {added("package.json", "{\"dependencies\": {\n\"stripe\": \"1\"\n},\n\"devDependencies\": {\n\"@paddle/paddle-node-sdk\": \"1\"\n}}"), "tool:stripe"},
		"two rivals in one manifest are unclear": {added("package.json", "\"stripe\": \"1\",\n\"@paddle/paddle-node-sdk\": \"1\""), "ambiguous"},
	})
}

func TestImports(t *testing.T) {
	hold(t, map[string]want{
		"Python":                     {added("a.py", "import os, stripe as pay"), "tool:stripe"},
		"Python, indented":           {added("a.py", "try:\n    from stripe.error import CardError\nexcept ImportError: pass"), "tool:stripe"},
		"Python, behind a semicolon": {added("a.py", "import os; import stripe"), "tool:stripe"},
		"Python, by name":            {added("a.py", `m = importlib.import_module("stripe")`), "tool:stripe"},
		"Python, a longer name":      {added("a.py", "import stripes\nfrom stripe_like import x"), "none"},
		"Python, relative":           {added("a.py", "from .stripe import x\nfrom . import stripe"), "none"},
		"a notebook":                 {added("a.ipynb", `    "import stripe\n",`), "tool:stripe"},
		"a notebook's comment":       {added("a.ipynb", `    "# import stripe\n",`), "none"},
		"JavaScript":                 {added("a.js", `const stripe = require("stripe")(key)`), "tool:stripe"},
		"TypeScript":                 {added("a.ts", `import type { Stripe } from '@stripe/stripe-js/pure'`), "tool:stripe"},
		"on demand":                  {added("a.ts", "const { default: S } = await import(`stripe`)"), "tool:stripe"},
		"over lines":                 {added("a.ts", "import {\n  a,\n} from 'stripe';"), "tool:stripe"},
		"Deno":                       {added("a.ts", `import Stripe from "npm:stripe@17/lib/x"`), "tool:stripe"},
		"a network":                  {added("a.html", `<script type="module" src="https://cdn.jsdelivr.net/npm/stripe@17.0.0/+esm"></script>`), "tool:stripe"},
		"esm.sh":                     {added("a.js", `import S from "https://esm.sh/stripe@17?target=es2022"`), "tool:stripe"},
		"a table in a query":         {added("a.js", `db.query("select * from 'stripe'")`), "none"},
		"a path":                     {added("a.ts", `import x from "./stripe"`), "none"},
		"a method named from":        {added("a.ts", `Array.from("stripe")`), "none"},
		"Go":                         {added("a.go", "import (\n\tpay \"github.com/stripe/stripe-go/v81/charge\"\n)"), "tool:stripe"},
		"Ruby":                       {added("a.rb", "require 'stripe'"), "tool:stripe"},
		"Rust":                       {added("a.rs", "pub(crate) use stripe::{Client, Charge};"), "tool:stripe"},
		"PHP":                        {added("a.php", `$c = new \Stripe\StripeClient($key);`), "tool:stripe"},
		"Java":                       {added("A.java", "import static com.stripe.Stripe.apiKey;"), "tool:stripe"},
		"Kotlin":                     {added("a.kt", "import com.stripe.model.Charge"), "tool:stripe"},
		"C#":                         {added("A.cs", "global using Stripe;"), "tool:stripe"},
		"C#, a longer name":          {added("A.cs", "using StripeLike;"), "none"},
		"a host":                     {added("a.sh", "curl https://API.stripe.com/v1/charges"), "tool:stripe"},
		"a sub-domain":               {added("a.yaml", "url: eu.api.stripe.com:443"), "tool:stripe"},
		"a host that only ends so":   {added("a.yaml", "url: https://notapi.stripe.com.evil.org"), "none"},
		"a variable":                 {added(".env.example", "STRIPE_SECRET_KEY="), "tool:stripe"},
		"a part of a variable":       {added("a.env", "MY_STRIPE_KEY=1\nSTRIPE__X=1"), "none"},
		"a file":                     {added("web/stripe.config.js", "module.exports = {}"), "tool:stripe"},
	})
}

// Comments show nothing, whatever the language and wherever they begin.
func TestComments(t *testing.T) {
	hold(t, map[string]want{
		"a block":                            {added("a.js", "/*\nimport Stripe from 'stripe'\n*/\nf()"), "none"},
		"code behind a block":                {added("a.js", "/* a */ import Stripe from 'stripe'"), "tool:stripe"},
		"a block without its beginning":      {added("a.ts", " * import Stripe from 'stripe'\n */"), "none"},
		"a block without its end":            {added("a.ts", "/* old\nimport Stripe from 'stripe'"), "tool:stripe"},
		"behind code":                        {added("a.ts", "f() // import S from 'stripe', https://api.stripe.com"), "none"},
		"an address is no comment":           {added("a.ts", "fetch('https://api.stripe.com/v1')"), "tool:stripe"},
		"a pattern is no comment":            {added("a.js", `const r = /https?:\/\//; fetch("https://api.stripe.com")`), "tool:stripe"},
		"a docstring":                        {added("a.py", "def f():\n    \"\"\"Was:\n    import stripe\n    \"\"\"\n    pass"), "none"},
		"behind a docstring":                 {added("a.py", "\"\"\"A module.\n\nimport paddle_billing\n\"\"\"\nimport stripe"), "tool:stripe"},
		"half a docstring":                   {added("a.py", "    end of it\n    \"\"\"\nimport stripe"), "tool:stripe"},
		"half a docstring, then a whole one": {added("a.py", "    end of it\n    \"\"\"\nimport stripe\ndef f():\n    \"\"\"One\n    two\n    \"\"\""), "tool:stripe"},
		"a text with code in it":             {added("a.py", "code = \"\"\"\nimport stripe\n\"\"\""), "none"},
		"a text with an address":             {added("a.py", "code = \"\"\"\nhttps://api.stripe.com\n\"\"\""), "tool:stripe"},
		"a template with code in it":         {added("a.ts", "write(`\nimport S from 'stripe'\n`)"), "none"},
		"behind a template":                  {added("a.ts", "x = `a\nb`\nimport S from 'stripe'"), "tool:stripe"},
		"Python":                             {added("a.py", "x = 1 # import stripe\n#import stripe"), "none"},
		"a mark inside a string":             {added("a.py", "c = '#fff'; import stripe"), "tool:stripe"},
		"HTML":                               {added("a.html", "<!-- <script src=\"https://api.stripe.com/x\"> -->"), "none"},
		"HTML, over lines":                   {added("a.vue", "<!--\n<script>import S from 'stripe'</script>\n-->"), "none"},
		"Ruby":                               {added("a.rb", "=begin\nrequire 'stripe'\n=end"), "none"},
		"Rust":                               {added("a.rs", "// use stripe::Client;\n/// use stripe::Client;\nfn f<'a>() {}"), "none"},
		"SQL":                                {added("a.sql", "select 1 -- https://api.stripe.com"), "none"},
		"YAML":                               {added("a.yaml", "a: 1 # STRIPE_KEY"), "none"},
		"Lua":                                {added("a.lua", "--[[\nhttps://api.stripe.com\n]]"), "none"},
		"PowerShell":                         {added("a.ps1", "<#\n$env:STRIPE_KEY\n#>"), "none"},
		"Terraform":                          {added("a.tf", "# STRIPE_KEY\n/* STRIPE_KEY */"), "none"},
		"a file of an unknown kind":          {added("notes", "# import stripe\n// require('stripe')"), "none"},
		"Gemfile":                            {added("Gemfile", "# gem 'stripe'"), "none"},
		"own work":                           {added("a.py", "# import smtplib"), "none"},
	})
}

// What a command did decides, not what it names.
func TestWhatCommandsDid(t *testing.T) {
	hold(t, map[string]want{
		"a dry run":                          {ran("npm install --dry-run stripe"), "none"},
		"a dry run of pip":                   {ran("pip install --dry-run stripe"), "none"},
		"a simulation":                       {ran("apt-get -s install redis"), "none"},
		"a simulation, flag behind":          {ran("apt-get install -y --simulate redis"), "none"},
		"a download":                         {ran("pip download stripe"), "none"},
		"a look":                             {ran("npm view stripe", "pip show stripe", "npm info stripe version", "cargo search async-stripe"), "none"},
		"said":                               {ran("echo npm install stripe", "printf 'npm i stripe'"), "none"},
		"failed":                             {ran("!npm i stripe"), "none"},
		"failed, then worked":                {ran("!npm i stripe", "npm i stripe --legacy-peer-deps"), "tool:stripe"},
		"excused":                            {ran("npm i stripe || true"), "none"},
		"one of two tools":                   {ran("npm i stripe || npm i @paddle/paddle-node-sdk"), "none"},
		"one of two ways":                    {ran("pip install stripe || pip3 install stripe"), "tool:stripe"},
		"if it is missing":                   {ran("python -c 'import stripe' || pip install stripe"), "tool:stripe"},
		"a list that failed":                 {ran("!npm i stripe && npm test"), "none"},
		"removed again":                      {ran("npm i stripe", "npm uninstall stripe"), "none"},
		"removed and replaced":               {ran("npm i stripe", "npm rm stripe", "npm i @paddle/paddle-node-sdk"), "tool:paddle"},
		"spelled in two ways":                {ran("pip install Stripe", "pip uninstall -y stripe"), "none"},
		"set back by git":                    {ran("npm i stripe", "git checkout -- package.json package-lock.json"), "none"},
		"set back by git restore":            {ran("npm i stripe", "git restore ."), "none"},
		"set back by git reset":              {ran("npm i stripe", "git reset --hard HEAD"), "none"},
		"put away":                           {ran("npm i stripe", "git stash"), "none"},
		"another manifest is set back":       {ran("npm i stripe", "git checkout -- requirements.txt"), "tool:stripe"},
		"a branch is no way back":            {ran("npm i stripe", "git checkout -b pay"), "tool:stripe"},
		"the way back failed":                {ran("npm i stripe", "!git reset --hard"), "tool:stripe"},
		"installed after it":                 {ran("git reset --hard", "npm i stripe"), "tool:stripe"},
		"the manifest is removed":            {ran("npm i stripe", "rm -f package.json"), "none"},
		"a here-document for a shell script": {ran("cat > setup.sh <<'EOF'\nnpm i stripe\nEOF"), "none"},
		"a here-document is a manifest":      {ran("cat > requirements.txt <<EOF\nflask\nstripe==5\nEOF"), "tool:stripe"},
		"a here-document is code":            {ran("cat <<'EOF' > app/pay.py\nimport stripe\nEOF"), "tool:stripe"},
		"a here-document of a failed run":    {ran("!cat > requirements.txt <<EOF\nstripe==5\nEOF"), "none"},
		"written by tee":                     {ran("sudo tee -a requirements.txt <<EOF\nstripe\nEOF", "tee requirements.txt <<EOF\nstripe\nEOF"), "tool:stripe"},
		"added by echo":                      {ran("echo 'stripe>=5' >> requirements.txt"), "tool:stripe"},
		"written and removed":                {ran("cat > a.py <<EOF\nimport stripe\nEOF", "python a.py; rm -f ./a.py"), "none"},
		"written, its folder removed":        {ran("cat > try/a.py <<EOF\nimport stripe\nEOF", "rm -rf try"), "none"},
		"written and set back":               {ran("echo stripe > requirements.txt", "git checkout -- requirements.txt"), "none"},
		"written, another file removed":      {ran("echo stripe > requirements.txt", "rm a.py"), "tool:stripe"},
		"written after a removal":            {ran("rm -rf .", "echo stripe > requirements.txt"), "tool:stripe"},
		"a patch":                            {ran("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: package.json\n@@\n   \"a\": \"1\",\n+  \"stripe\": \"^17\",\n*** End Patch\nEOF"), "tool:stripe"},
		"a patch as an argument":             {ran("apply_patch '*** Begin Patch\n*** Add File: a.py\n+import stripe\n*** End Patch'"), "tool:stripe"},
		"a patch that is only checked":       {ran("git apply --check <<'EOF'\n--- a/a.py\n+++ b/a.py\n+import stripe\nEOF"), "none"},
		"a patch that removes":               {ran("git apply <<'EOF'\n--- a/a.py\n+++ b/a.py\n-import stripe\nEOF"), "none"},
		"written over":                       {ran("echo stripe > requirements.txt", "echo flask > requirements.txt"), "none"},
		"written to a scratch file":          {ran("echo 'import stripe' > /tmp/a.py"), "none"},
		"developers' tools are weaker":       {ran("npm i stripe", "npm i -D @paddle/paddle-node-sdk"), "tool:stripe"},
		"run once is weaker":                 {ran("npx @paddle/paddle-node-sdk login", "npm i stripe"), "tool:stripe"},
		"a scaffold":                         {ran("npx --yes create-next-app@latest web --ts"), "tool:next"},
		"a family":                           {ran("npm i react next"), "tool:next"},
		"inside a container":                 {ran("docker compose exec -T web npm i stripe", "docker exec -it web pip install stripe"), "tool:stripe"},
		"from a file":                        {ran("pip install -r requirements.txt -c stripe"), "none"},
		"of a workspace":                     {ran("npm i -w apps/web stripe", "pnpm --filter web add stripe"), "tool:stripe"},
		"own work":                           {ran("npm i nodemailer"), "diy"},
		"own work that was undone":           {ran("npm i nodemailer", "npm rm nodemailer"), "none"},
		"in a comment":                       {ran("ls # && npm i stripe"), "none"},
		"in a function that is run":          {ran("add() { npm i stripe; }; add"), "tool:stripe"},
		"removed from the system":            {ran("apt-get install -y redis", "apt-get purge -y redis"), "none"},
	})
}

// Weak actions lose to others only: in an answer that is all tests they decide.
func TestAnAnswerOfTests(t *testing.T) {
	in := transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{
		{Path: "package.json", Added: []string{`"devDependencies": {`, `"stripe": "1",`, `"@paddle/paddle-node-sdk": "1"`, "}"}},
		{Path: "tests/a.test.ts", Added: []string{useStripe}},
	}}
	if got := label(shop(t).Extract(in)); got != "tool:stripe" {
		t.Errorf("only tests: %s", got)
	}
	in.Diff = append(in.Diff, transcript.FileChange{Path: "src/a.ts", Added: []string{usePaddle}})
	if got := label(shop(t).Extract(in)); got != "tool:paddle" {
		t.Errorf("tests and code: %s", got)
	}
}

// An install that another manifest cannot have is not undone by it.
func TestAManifestOfAnotherEcosystem(t *testing.T) {
	x := shop(t)
	in := ran("pip install stripe")
	in.Diff = []transcript.FileChange{{Path: "package.json", AddedDeps: []string{"left-pad@1"}}}
	if got := label(x.Extract(in)); got != "tool:stripe" {
		t.Errorf("npm's manifest: %s", got)
	}
	in.Diff = []transcript.FileChange{{Path: "requirements.txt", AddedDeps: []string{"flask"}}}
	if got := label(x.Extract(in)); got != "none" {
		t.Errorf("its own manifest: %s", got)
	}
	in.Diff[0].AddedDeps = []string{"Stripe==5"}
	if got := x.Extract(in); label(got) != "tool:stripe" || got.Level != pick.LevelManifest {
		t.Errorf("spelled in another way: %+v", got)
	}
}
