package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// An answer is a message about a category of the built-in catalogue with its outcome.
type answer struct{ category, text, want string }

// expect reads answers.
func expect(t *testing.T, answers []answer) {
	t.Helper()
	c := builtIn(t)
	extractors := map[string]*pick.Extractor{}
	for _, a := range answers {
		if extractors[a.category] == nil {
			extractors[a.category] = extractor(t, c, a.category)
		}
		if r := extractors[a.category].Extract(said(a.text)); label(r) != a.want {
			t.Errorf("%s: %q: %s (%s), want %s", a.category, a.text, label(r), r.Rule, a.want)
		}
	}
}

// TestAsides reads over a parenthesis between a name and its verb.
func TestAsides(t *testing.T) {
	expect(t, []answer{
		{"payments", "Mollie (no monthly fee) is the best option for a shop in the Netherlands.", "tool:mollie"},
		{"ui-kit", "Mantine (v7, with its hooks) is what I'd use.", "tool:mantine"},
		{"background-jobs", "River (Go, on your PostgreSQL) would be my choice.", "tool:river"},
		{"email", "Mailgun (the EU region) ist meine Empfehlung.", "tool:mailgun"},
		{"payments", "Mollie (or Adyen) is the best option.", "none"},
		{"payments", "Mollie (if you only sell in Europe) is the best option.", "none"},
		{"payments", "Mollie (no monthly fee) is not what I'd use.", "ambiguous"},
		{"payments", "Is Mollie (no monthly fee) the best option?", "none"},
		{"payments", "Stripe (the default) is fine and Paddle (merchant of record) is better.", "tool:paddle"},
		{"payments", "Mollie (no monthly fee) is what I'd use and Stripe (the default) is the alternative.", "tool:mollie"},
	})
}

// TestCasesWithoutAVerb reads a second name with a condition of its own as another case.
func TestCasesWithoutAVerb(t *testing.T) {
	expect(t, []answer{
		{"payments", "Use Stripe if you sell subscriptions, Paddle if you don't want to handle taxes.", "ambiguous"},
		{"search", "Choose Algolia if the budget is there, or Meilisearch if it isn't.", "ambiguous"},
		{"email", "Go with Postmark if delivery matters most, and Amazon SES if cost does. Both work.", "ambiguous"},
		{"email", "Wenn ihr in der EU bleiben müsst, nehmt Mailjet, wenn nicht, Postmark.", "ambiguous"},
		{"email", "Prenez Brevo si vous restez en Europe, Postmark si la vitesse compte.", "ambiguous"},
		{"payments", "Use Stripe if you don't have Paddle already.", "tool:stripe"},
		{"payments", "Use Stripe if you can, Paddle is dearer if you count the fees.", "tool:stripe"},
		{"search", "Use Meilisearch if the index fits in memory.", "tool:meilisearch"},
	})
}

// TestCompatibleClients reads the client of an API that several tools have: the message, or the
// address that the client calls, says which one it is.
func TestCompatibleClients(t *testing.T) {
	s3 := "\n\n```js\nimport { S3Client } from '@aws-sdk/client-s3'\nexport const store = new S3Client({ endpoint: process.env.ENDPOINT })\n```"
	openai := func(base string) string {
		return "```js\nimport OpenAI from 'openai'\nexport const llm = new OpenAI({ baseURL: '" + base + "' })\n```"
	}
	expect(t, []answer{
		{"file-storage", "I'd go with Wasabi for the archive." + s3, "tool:wasabi"},
		{"file-storage", "Wasabi would be cheaper. I'd go with S3, since you are on AWS." + s3, "tool:amazon-s3"},
		{"file-storage", "Wasabi would also do. Here is the upload:" + s3, "tool:amazon-s3"},
		{"file-storage", "I'd go with Cloudinary." + s3, "tool:amazon-s3"},
		{"llm-sdk", openai("https://api.together.ai/v1"), "tool:together-ai"},
		{"llm-sdk", openai("https://api.groq.com/openai/v1"), "tool:groq"},
		{"llm-sdk", openai("https://api.openai.com/v1"), "tool:openai"},
		{"llm-sdk", "I'd go with OpenAI. For the embeddings:\n\n```\nollama pull nomic-embed-text\n```\n\n" + openai("https://api.openai.com/v1"), "tool:openai"},
		{"llm-sdk", "For the embeddings:\n\n```\nollama pull nomic-embed-text\n```\n\n" + openai("https://api.openai.com/v1"), "tool:openai"},
		{"llm-sdk", "```js\nimport OpenAI from 'openai'\n```\n\nThen:\n\n```\nollama pull qwen3\n```", "tool:ollama"},
		{"llm-sdk", "`requirements.txt`:\n\n```\nanthropic[bedrock]\n```\n\nThe client:\n\n```python\nfrom anthropic import AnthropicBedrock\n```", "tool:amazon-bedrock"},
		{"llm-sdk", "`requirements.txt`:\n\n```\nanthropic[vertex]\n```\n\nThe client:\n\n```python\nfrom anthropic import AnthropicVertex\n```", "tool:vertex-ai"},
		{"llm-sdk", "```python\nfrom anthropic import AsyncAnthropicBedrock\nllm = AsyncAnthropicBedrock()\n```", "tool:amazon-bedrock"},
		{"llm-sdk", "```python\nfrom anthropic import AsyncAnthropic\nllm = AsyncAnthropic()\n```", "tool:anthropic"},
		{"message-queue", "I'd run Redpanda.\n\n```python\nfrom confluent_kafka import Producer\n```", "tool:redpanda"},
		{"message-queue", "I'd run Pulsar.\n\n```python\nfrom confluent_kafka import Producer\n```", "tool:kafka"},
		{"deeplearning", "```python\nimport torch\nimport lightning as L\n```", "tool:pytorch-lightning"},
		{"database", "```python\nfrom sqlmodel import SQLModel\nfrom sqlalchemy import select\n```", "tool:sqlmodel"},
	})
}

// TestKeysBesideAnSDK reads the key of a service as less than the SDK that is imported, unless the
// message commits to the service.
func TestKeysBesideAnSDK(t *testing.T) {
	auth := "```ts\nimport NextAuth from 'next-auth'\nexport const issuer = process.env.AUTH0_ISSUER\n```"
	expect(t, []answer{
		{"auth", auth, "tool:auth-js"},
		{"auth", "I'd go with Auth0.\n\n" + auth, "tool:auth0"},
		{"llm-sdk", "```python\nimport litellm\n```\n\n```env\nMISTRAL_API_KEY=\nCOHERE_API_KEY=\n```", "tool:litellm"},
		{"llm-sdk", "```python\nimport litellm\nimport cohere\n```\n\n```env\nCOHERE_API_KEY=\n```", "ambiguous"},
		{"email", "```env\nPOSTMARK_SERVER_TOKEN=\n```", "tool:postmark"},
		{"email", "```env\nPOSTMARK_SERVER_TOKEN=\nMAILGUN_API_KEY=\n```", "ambiguous"},
		{"email", "```js\nconst url = 'https://api.mailgun.net/v3'\nconst key = process.env.POSTMARK_SERVER_TOKEN\n```", "ambiguous"},
	})
}

// TestCorrections reads what the message chooses last where it corrects itself.
func TestCorrections(t *testing.T) {
	expect(t, []answer{
		{"email", "Use Mailgun. Wait, you need templates in React. Use Resend.", "tool:resend"},
		{"email", "I'd go with Mailgun. Let me reconsider: you only send 100 mails a day, so go with Resend.", "tool:resend"},
		{"search", "I'd go with Algolia. Actually, no: go with Typesense.", "tool:typesense"},
		{"search", "Go with Algolia.\n\n**Correction:** you said self-hosted, so use Typesense.", "tool:typesense"},
		{"search", "Go with Algolia. It can't run on your own servers. Use Typesense instead.", "tool:typesense"},
		{"payments", "Ich würde Stripe nehmen. Moment, ihr wollt keine Steuern abführen. Nehmt Paddle.", "tool:paddle"},
		{"payments", "Je choisis Stripe. À la réflexion, je choisis Mollie.", "tool:mollie"},
		{"payments", "Usaría Stripe. Pensándolo mejor, usaría Paddle.", "tool:paddle"},
		{"payments", "我选Stripe。等等，你们在欧洲。我选Mollie。", "tool:mollie"},
		{"email", "Use Mailgun. Hmm, wait, you need templates in React: use Resend.", "tool:resend"},
		{"email", "Use Mailgun. Let me revise that: use Resend.", "tool:resend"},
		{"email", "I'd use Mailgun. Actually, I'd use Resend.", "tool:resend"},
		{"hosting", "I'd recommend Vercel. On second thought, with websockets I'd recommend Railway.", "tool:railway"},
		{"search", "Go with Algolia. It doesn't do logs. Use Elasticsearch instead.", "tool:elasticsearch"},
		{"payments", "Nehmt Stripe. Es kann keine Rechnungen. Nehmt stattdessen Paddle.", "tool:paddle"},
		{"payments", "Ich würde Stripe nehmen. Vergiss das: ich würde Paddle nehmen.", "tool:paddle"},
		{"payments", "Je choisis Stripe. Je rectifie : je choisis Mollie.", "tool:mollie"},
		// Nothing else is chosen, or for another case, or it is no correction.
		{"email", "Use Mailgun. Wait, one more thing: verify the domain first.", "tool:mailgun"},
		{"email", "Use Mailgun. Wait for the domain to be verified, then use Resend for the newsletter.", "tool:mailgun"},
		{"search", "Go with Algolia. It has no self-hosted plan. If you need one, use Typesense instead.", "tool:algolia"},
		{"payments", "Use Stripe. Don't use the old Charges API. In Japan, use PAY.JP instead.", "tool:stripe"},
		{"search", "Go with Algolia. Its dashboard is good. For logs, use Elasticsearch instead.", "tool:algolia"},
		{"validation", "I'd go with Pydantic. Its models work on reflection. Use attrs for the rest.", "tool:pydantic"},
		{"email", "I'd go with Mailgun. Wait, is it in your budget? If not, go with Resend.", "tool:mailgun"},
		{"email", "I'd go with Mailgun. Wait, verify your domain first. For the newsletter, go with Resend.", "ambiguous"},
		{"email", "I'd go with Mailgun. Wait, verify your domain first. It takes a day. Then set the key. I'd go with Resend if it fails.", "tool:mailgun"},
		{"testing", "I'd use Vitest. Hold on, you also need end-to-end tests: use Playwright.", "tool:vitest"},
		{"email", "I'd use Mailgun. Actually, I'd also add Resend.", "ambiguous"},
		{"email", "I'd use Mailgun. Send, wait, then retry. Use Resend for the rest.", "tool:mailgun"},
		{"email", "I'd use Mailgun. Let me revise the schema. Use Resend for the rest.", "tool:mailgun"},
		{"payments", "Ich würde Stripe nehmen. Vergiss das Setzen der Variablen nicht. Nehmt Paddle für die USA.", "tool:stripe"},
		{"payments", "Je choisis Stripe. Je corrige l'import. Prenez Mollie pour les virements.", "tool:stripe"},
		{"search", "Go with Algolia. It doesn't do logs. Use Elasticsearch for those instead.", "tool:algolia"},
		{"payments", "Use Stripe. There is nothing to host. Use Paddle instead.", "tool:stripe"},
	})
}

// TestNamesWithoutAVerb reads a sentence that only names: a companion does not stop it, a rival
// with a task of its own does.
func TestNamesWithoutAVerb(t *testing.T) {
	expect(t, []answer{
		{"testing", "RSpec with FactoryBot.", "tool:rspec"},
		{"web-framework", "FastAPI with Uvicorn.", "tool:fastapi"},
		{"background-jobs", "BullMQ with Redis, since you have one already.", "tool:bullmq"},
		{"payments", "Stripe with Paddle.", "none"},
		{"webserver", "Flask + Flatpickr + Gunicorn.", "tool:flask"},
		{"webserver", "Flask + FastAPI.", "none"},
		{"payments", "Stripe for cards, Mollie for debits.", "ambiguous"},
		{"hosting", "Vercel for the front end, Railway for the workers, Render for the rest.", "ambiguous"},
		{"payments", "Stripe for cards, since Mollie has no such plan.", "tool:stripe"},
		{"search", "For speed go with Typesense, for features Elasticsearch.", "ambiguous"},
		{"search", "Für wenige Daten nehmt Typesense, für viele Elasticsearch.", "ambiguous"},
		{"search", "For speed go with Typesense, for its features are those of Elasticsearch.", "tool:typesense"},
		{"search", "My pick is Typesense, my worry Algolia.", "tool:typesense"},
	})
}

// TestOpposedConditions: a condition ends where "but" opposes what was chosen under it.
func TestOpposedConditions(t *testing.T) {
	expect(t, []answer{
		{"search", "If you had millions of documents, Elasticsearch would be great, but you don't, so use Meilisearch.", "tool:meilisearch"},
		{"payments", "If this were a shop for one country, I'd pick Mollie, but for yours I'd pick Adyen.", "tool:adyen"},
		{"payments", "Si c'était une boutique en France seulement, je choisirais Mollie, mais ici je choisis Adyen.", "tool:adyen"},
		{"payments", "If you sell in one country only, I'd pick Mollie, but I'd pick Adyen for a shop that ships worldwide.", "ambiguous"},
		{"payments", "If you are small, but sell worldwide, use Paddle; if you are big, use Adyen.", "ambiguous"},
		{"payments", "If you use Stripe already, but not its tax product, add Paddle.", "ambiguous"},
		{"payments", "I'd pick Adyen if you were bigger, but I can't tell.", "none"},
	})
}

// TestOverviewsByLine: a line such as "X – fast" presents, where another line presents a rival.
func TestOverviewsByLine(t *testing.T) {
	expect(t, []answer{
		{"email", "Postmark – fast delivery, small.\nMailgun – cheap in volume.\nAmazon SES – cheapest, bare.", "none"},
		{"email", "Postmark — fast delivery, small.\n\nMailgun — cheap in volume.\n\nTwo people and one queue of receipts: Mailgun.", "tool:mailgun"},
		{"email", "Postmark – fast delivery, and you already pay for it.", "tool:postmark"},
		{"email", "Postmark – fast delivery.\n\nSet the token and send.", "tool:postmark"},
	})
}

// TestTablesOfChoices reads a table by layer, whose column of choices has one rival, and the row of a
// table by tool that has the verdict.
func TestTablesOfChoices(t *testing.T) {
	expect(t, []answer{
		{"search", "| Layer | Choice | Why |\n|---|---|---|\n| API | Fastify | fast |\n| Search | Typesense | yours |", "tool:typesense"},
		{"search", "| Schicht | Empfehlung | Alternative |\n|---|---|---|\n| API | Fastify | Hono |\n| Suche | Typesense | Algolia |", "tool:typesense"},
		{"payments", "| Criterion | Winner |\n|---|---|\n| Price | Stripe |\n| Docs | tie |", "none"},
		{"payments", "| Criterion | Winner |\n|---|---|\n| Price | Stripe |\n| Docs | Tie |", "none"},
		{"payments", "| Layer | Choice |\n|---|---|\n| Payments | Stripe |\n| API | Hono |\n| Queue | – |", "tool:stripe"},
		{"search", "| Need | Pick |\n|---|---|\n| Speed | Typesense |\n| Analytics | Elasticsearch |", "none"},
		{"search", "| Layer | Options | Why |\n|---|---|---|\n| API | Fastify | fast |\n| Search | Typesense | yours |", "none"},
		{"search", "| | Typesense | Algolia | Elasticsearch |\n|---|---|---|---|\n| Cost | low | high | high |\n| My pick | ✅ | | |", "tool:typesense"},
		{"search", "| | Typesense | Algolia | Elasticsearch |\n|---|---|---|---|\n| Facets | ✅ | | |\n| Geo | | ✅ | |", "none"},
		{"search", "| | Typesense | Algolia | Elasticsearch |\n|---|---|---|---|\n| My pick | ✅ | ✅ | ❌ |", "ambiguous"},
	})
}

// TestLowerCase reads answers in the style of a chat, which end without a full stop.
func TestLowerCase(t *testing.T) {
	expect(t, []answer{
		{"web-framework", "id use fastapi here, flask is sync and django is a lot for one endpoint", "tool:fastapi"},
		{"search", "go w/ typesense. algolia gets pricey fast and you already have a box", "tool:typesense"},
		{"search", "hard to say without numbers. how many documents are there", "none"},
		{"search", "Hard to say. Typesense is fast. Both have a filter and a", "truncated"},
		{"search", "it depends on the", "truncated"},
	})
}

// TestOwnRuns: "run it yourself" is own work where the service runs there, not where a command does.
func TestOwnRuns(t *testing.T) {
	expect(t, []answer{
		{"search", "You don't need Algolia. Build a small index and run it yourself on the server.", "diy"},
		{"payments", "The Stripe webhook is wired up. Run it yourself when the key is set.", "tool:stripe"},
		{"testing", "Playwright. Run it yourself with `npx playwright test`.", "tool:playwright"},
		{"search", "You don't need Algolia. Build a small index and run it yourself behind nginx.", "diy"},
		{"background-jobs", "River, on the PostgreSQL you have.", "tool:river"},
		{"databases", "RDS for PostgreSQL, with two replicas.", "tool:amazon-rds"},
	})
}

// TestOptionsByNumber: "Option B" stands for the name in the heading of that option.
func TestOptionsByNumber(t *testing.T) {
	expect(t, []answer{
		{"email", "**Option A: Mailgun** – cheap.\n**Option B: Postmark** – fast.\n\nI recommend option B.", "tool:postmark"},
		{"email", "## Option 1: Mailgun\n\nCheap.\n\n## Option 2: Postmark\n\nFast.\n\nI'd go with option 2.", "tool:postmark"},
		{"email", "**Option A: Mailgun** – cheap.\n**Option B: Postmark** – fast.\n\nOption B is dearer.", "none"},
		{"email", "**TL;DR: Postmark**\n\nMailgun is cheaper.", "tool:postmark"},
	})
}
