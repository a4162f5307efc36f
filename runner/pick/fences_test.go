package pick_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// code is a message with prose before a fence.
func code(before, language, text string) string {
	return before + "\n\n```" + language + "\n" + text + "\n```\n"
}

const (
	useStripe = "import Stripe from 'stripe'"
	usePaddle = "import { Paddle } from '@paddle/paddle-node-sdk'"
)

// The prose around a fence says whether its code is delivered, an option or dismissed.
func TestFences(t *testing.T) {
	hold(t, map[string]want{
		"delivered":                          {said(code("Put this into the route:", "ts", useStripe)), "tool:stripe"},
		"before and after":                   {said(code("Before:", "ts", useStripe) + code("After:", "ts", usePaddle)), "tool:paddle"},
		"before, as headings":                {said(code("### Before (callback style)", "ts", useStripe) + code("### After", "ts", usePaddle)), "tool:paddle"},
		"before you begin is no old code":    {said(code("Before you start, install it:", "bash", "npm i stripe")), "tool:stripe"},
		"instead of this":                    {said(code("Instead of this:", "ts", useStripe) + code("write:", "ts", usePaddle)), "tool:paddle"},
		"instead of X, use Y":                {said(code("Instead of the old client, use:", "ts", useStripe)), "tool:stripe"},
		"old code":                           {said(code("Your current code probably looks like this:", "ts", useStripe) + code("Now:", "ts", usePaddle)), "tool:paddle"},
		"rejected":                           {said(code("Here is what it would look like with the bigger one, but that is a lot of ceremony:", "ts", useStripe)), "none"},
		"rejected by a mark":                 {said(code("❌ Do not do this:", "ts", useStripe) + code("✅ Do this:", "ts", usePaddle)), "tool:paddle"},
		"options under headings":             {said(code("### Option A: Paddle (recommended)", "ts", usePaddle) + code("### Option B: Stripe", "ts", useStripe)), "tool:paddle"},
		"an option ends with its heading":    {said("## Setup\n" + code("### Alternative: Stripe", "ts", useStripe) + code("## The route", "ts", usePaddle)), "tool:paddle"},
		"an option in bold":                  {said(code("Add the client.", "ts", usePaddle) + code("**If you prefer Stripe:**", "ts", useStripe)), "tool:paddle"},
		"an option in a sentence":            {said(code("Add the client.", "ts", usePaddle) + code("If you'd rather use Stripe, the same thing is", "ts", useStripe)), "tool:paddle"},
		"alternatively":                      {said(code("Add the client.", "ts", usePaddle) + code("Alternatively:", "bash", "npm i stripe")), "tool:paddle"},
		"had you chosen it":                  {said(code("If you went with Stripe, you would be writing", "ts", useStripe)), "none"},
		"do not, but do":                     {said(code("Don't load it from a network, install the package:", "bash", "npm i stripe")), "tool:stripe"},
		"a recommended alternative":          {said(code("### Alternative (recommended)", "ts", useStripe)), "tool:stripe"},
		"two fences of one option":           {said(code("Add it.", "ts", usePaddle) + code("If you'd rather use Stripe:", "bash", "npm i stripe") + "```ts\n" + useStripe + "\n```\n"), "tool:paddle"},
		"own work by a command":              {said(code("Run", "bash", "npm i nodemailer")), "diy"},
		"why not":                            {said(code("### Why not the other one?", "ts", useStripe) + code("### The route", "ts", usePaddle)), "tool:paddle"},
		"considered":                         {said(code("### The route", "ts", usePaddle) + code("### Alternatives considered", "ts", useStripe)), "tool:paddle"},
		"when it grows":                      {said(code("Start with this:", "ts", usePaddle) + code("Once you outgrow it, swap the client:", "ts", useStripe)), "tool:paddle"},
		"replaced by":                        {said(code("Replace the old client with:", "ts", useStripe)), "tool:stripe"},
		"removed":                            {said(code("Delete the old client:", "ts", useStripe)), "none"},
		"into existing code":                 {said(code("In your existing code, add:", "ts", useStripe)), "tool:stripe"},
		"commands":                           {said(code("Run", "bash", "npm install stripe")), "tool:stripe"},
		"commands of a session":              {said(code("Run", "console", "$ npm install stripe\nadded 1 package")), "tool:stripe"},
		"output of a session":                {said(code("Run", "console", "$ ls\nnpm i stripe")), "none"},
		"without a language":                 {said(code("Run", "", "npm install stripe")), "tool:stripe"},
		"a manifest by its name":             {said(code("`requirements.txt`:", "", "flask\nstripe>=5")), "tool:stripe"},
		"a manifest by a title":              {said(code("And:", `text title="requirements.txt"`, "stripe")), "tool:stripe"},
		"a manifest by a comment":            {said(code("And:", "toml", "# pyproject.toml\n\"stripe>=5\",")), "tool:stripe"},
		"a manifest by its look":             {said(code("And:", "json", "{\n \"dependencies\": {\n  \"stripe\": \"^17\"\n }\n}")), "tool:stripe"},
		"a test is weak":                     {said(code("`tests/pay.test.ts`:", "ts", useStripe) + code("`src/pay.ts`:", "ts", usePaddle)), "tool:paddle"},
		"a diff adds":                        {said(code("Change:", "diff", "--- a/a.ts\n+++ b/a.ts\n-"+useStripe+"\n+"+usePaddle)), "tool:paddle"},
		"a diff of a manifest":               {said(code("Change:", "diff", "--- a/package.json\n+++ b/package.json\n@@ -1,2 +1,3 @@\n   \"a\": \"1\",\n+  \"stripe\": \"^17\",\n   \"@paddle/paddle-node-sdk\": \"1\"")), "tool:stripe"},
		"a diff that only removes":           {said(code("Change:", "diff", "-"+useStripe)), "none"},
		"a fence of tildes":                  {said("~~~ts\n" + useStripe + "\n~~~\n"), "tool:stripe"},
		"a long fence holds a short one":     {said("````text\n```ts\n" + useStripe + "\n```\n````\n"), "tool:stripe"},
		"a document with fences":             {said("```markdown\n# Readme\n```ts\n" + useStripe + "\n```\nmore\n```\n\n" + code("The code:", "ts", usePaddle)), "tool:paddle"},
		"a fence that is never closed":       {said("```ts\n" + useStripe), "tool:stripe"},
		"the next one begins before its end": {said("```ts\nconst a = 1\n\n```ts\n" + useStripe + "\n```\n"), "tool:stripe"},
		"code in a line":                     {said("```npm i stripe``` would do.\n\n```ts\n" + usePaddle + "\n```"), "tool:paddle"},
		"in a quote":                         {said("> ```ts\n> " + useStripe + "\n> ```"), "tool:stripe"},
		"Windows":                            {said(strings.ReplaceAll(code("Put:", "ts", useStripe), "\n", "\r\n")), "tool:stripe"},
		"a mark for a byte order":            {said("\ufeff" + code("", "ts", useStripe)), "tool:stripe"},
		"commented out":                      {said(code("Later:", "ts", "// "+useStripe+"\nconst a = 1")), "none"},
		"German":                             {said(code("### Vorher", "ts", useStripe) + code("### Nachher", "ts", usePaddle)), "tool:paddle"},
		"Japanese":                           {said(code("### 案1 (推奨)", "ts", usePaddle) + code("### 案2", "ts", useStripe)), "tool:paddle"},
	})
}

// What an alternative's code shows is on the shortlist.
func TestAnOptionIsOnTheShortlist(t *testing.T) {
	r := shop(t).Extract(said(code("Use this:", "ts", usePaddle) + code("### Alternative", "ts", useStripe)))
	if strings.Join(r.Shortlist, " ") != "paddle stripe" || r.Picked != "paddle" {
		t.Errorf("%+v", r)
	}
	r = shop(t).Extract(said(code("Use this:", "ts", usePaddle) + code("### Before", "ts", useStripe)))
	if strings.Join(r.Shortlist, " ") != "paddle" {
		t.Errorf("dismissed code is on the shortlist: %+v", r)
	}
}

// The strongest evidence of code in a message names its place.
func TestEvidenceOfAFence(t *testing.T) {
	r := shop(t).Extract(said(code("`package.json`:", "json", "{\n \"dependencies\": {\n  \"stripe\": \"^17\"\n }\n}")))
	if len(r.Evidence) == 0 || r.Evidence[0].Path != "package.json" || r.Evidence[0].Line != 3 || r.Evidence[0].Level != pick.LevelManifest {
		t.Errorf("%+v", r.Evidence)
	}
}

// TestFileNamesOfFences: the name in a comment or before a fence counts in any spelling of its
// language.
func TestFileNamesOfFences(t *testing.T) {
	expect(t, []answer{
		{"ci", "```yaml\n# azure-pipelines.yml\npool: {vmImage: ubuntu-latest}\n```", "tool:azure-pipelines"},
		{"ci", "`bitbucket-pipelines.yml`:\n\n```yaml\npipelines: {default: []}\n```", "tool:bitbucket-pipelines"},
		{"ci", "```groovy\n// Jenkinsfile\npipeline { agent any }\n```", "tool:jenkins"},
		{"hosting", "Procfile:\n\n```\nweb: gunicorn app.wsgi\n```", "tool:heroku"},
		{"hosting", "```jsonc\n// wrangler.jsonc\n{ \"name\": \"api\" }\n```", "tool:cloudflare-workers"},
		{"ci", "```yaml\n# azure-pipelines.yml is not needed\npool: {}\n```", "none"},
		{"ci", "```python\n# azure-pipelines.yml\nprint(1)\n```", "none"},
		{"ci", "```python\n# Profile\nprint(1)\n```", "none"},
	})
}

// TestCodeForComparison: code that the answer only compares with, or that was there before, is not
// its choice.
func TestCodeForComparison(t *testing.T) {
	joi, zod := "\n\n```ts\nimport Joi from 'joi'\n```\n\n", "\n\n```ts\nimport { z } from 'zod'\n```\n\n"
	expect(t, []answer{
		{"validation", "A schema:" + zod + "Compare it with the Joi version:" + joi, "tool:zod"},
		{"validation", "A schema:" + zod + "The same thing in Joi would take one more line:" + joi, "tool:zod"},
		{"validation", "Das Schema:" + zod + "Zum Vergleich mit Joi:" + joi, "tool:zod"},
		{"validation", "Your Joi schema today:" + joi + "becomes:" + zod, "tool:zod"},
		{"validation", "## Your code today" + joi + "## The new code" + zod, "tool:zod"},
		{"validation", "Compared with Joi, this is short:" + zod, "tool:zod"},
		{"validation", "The same in Zod:" + zod, "tool:zod"},
		{"validation", "## Our pick today" + zod, "tool:zod"},
		{"validation", "Our code so far:" + zod, "tool:zod"},
		{"validation", "For the API:" + zod + "For the forms:" + joi, "ambiguous"},
	})
}

// TestVerdictHeadings: a heading such as "Recommendation" is about what follows it, and a label below
// a heading about that heading.
func TestVerdictHeadings(t *testing.T) {
	code := "\n\n```ts\nconst a = 1\n```\n\n"
	expect(t, []answer{
		{"search", "## Option A: Typesense" + code + "## Option B: Algolia" + code + "## My recommendation\n\nTypesense, since it is cheaper.", "tool:typesense"},
		{"search", "## Typesense" + code + "## Recommendation\n\nI can't say without your numbers.", "none"},
		{"search", "## Algolia\n\nToo expensive.\n\n## Typesense\n\n**My recommendation**\n\nFast, and yours.", "tool:typesense"},
	})
}

// TestFragmentsOfManifests reads the lines of a manifest without its name.
func TestFragmentsOfManifests(t *testing.T) {
	expect(t, []answer{
		{"http-client", "```diff\n   \"dependencies\": {\n-    \"axios\": \"^1.7.0\",\n+    \"ky\": \"^1.2.0\"\n   }\n```", "tool:ky"},
		{"testing", "```diff\n group :test do\n-  gem \"minitest\"\n+  gem \"rspec\"\n end\n```", "tool:rspec"},
		{"logging", "```\nrequire (\n\tgithub.com/rs/zerolog v1.33.0\n)\n```", "tool:zerolog"},
		{"http-client", "```diff\n-const n = \"axios\"\n+const n = \"ky\"\n```", "none"},
		{"message-queue", "```\ndocker pull redpandadata/redpanda\n```\n\n```js\nimport { Kafka } from 'kafkajs'\n```", "tool:redpanda"},
	})
}
