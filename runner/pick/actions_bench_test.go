package pick_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// program returns a file of about size bytes: a header of imports, then ordinary code.
func program(path, imports, body string, size int) transcript.FileChange {
	text := imports + strings.Repeat(body, max(1, (size-len(imports))/len(body)))
	return transcript.FileChange{Path: path, Added: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

// workspace returns the changes of an agent in five languages, size bytes in all.
func workspace(size int) []transcript.FileChange {
	const (
		ts = "export async function charge(req: Request, res: Response) {\n  const { amount, currency } = req.body // in cents\n" +
			"  logger.info(`charging ${amount} ${currency}`, { at: 'api/charge', user: req.user.id })\n  if (!process.env.NODE_ENV) throw new Error(\"NODE_ENV is not set\")\n" +
			"  const order = await db.orders.findFirst({ where: { id: req.params.id }, include: { lines: true } })\n  return res.json({ ok: true, total: order.lines.reduce((a, b) => a + b.price * b.count, 0) })\n}\n\n"
		py = "class OrderService:\n    \"\"\"Keeps the orders of one customer.\"\"\"\n\n    def __init__(self, repo: OrderRepository, clock=datetime.utcnow):\n        self.repo = repo\n" +
			"        self.timeout = int(os.environ.get(\"ORDER_TIMEOUT\", \"30\"))  # seconds\n\n    def total(self, order_id: int) -> Decimal:\n        order = self.repo.get(order_id)\n" +
			"        return sum((line.price * line.count for line in order.lines), Decimal(0))\n\n"
		golang = "// Total returns the price of an order.\nfunc (s *Service) Total(ctx context.Context, id int64) (int64, error) {\n\torder, err := s.store.Order(ctx, id)\n\tif err != nil {\n" +
			"\t\treturn 0, fmt.Errorf(\"order %d: %w\", id, err)\n\t}\n\tvar sum int64\n\tfor _, line := range order.Lines {\n\t\tsum += line.Price * line.Count\n\t}\n\treturn sum, nil\n}\n\n"
		java = "  /** Returns the price of an order. */\n  @GetMapping(\"/orders/{id}/total\")\n  public ResponseEntity<BigDecimal> total(@PathVariable long id) {\n    return orders.findById(id)\n" +
			"        .map(o -> o.getLines().stream().map(Line::getPrice).reduce(BigDecimal.ZERO, BigDecimal::add))\n        .map(ResponseEntity::ok).orElseGet(() -> ResponseEntity.notFound().build());\n  }\n\n"
		yaml = "  order_service:\n    url: https://orders.internal.example.org/v2\n    retries: 3\n    ORDER_SERVICE_TOKEN: ${ORDER_SERVICE_TOKEN}\n    labels: [a.b.c/d, \"team.example.org/name\"]\n"
	)
	part := size / 10
	return []transcript.FileChange{
		program("src/api/charge.ts", "import express from 'express'\nimport { z } from \"zod\"\nimport Stripe from 'stripe'\nconst db = require(\"../db\")\n\n", ts, 3*part),
		program("app/orders.py", "import os\nfrom datetime import datetime\nfrom decimal import Decimal\nimport flask, stripe as pay\n\n", py, 3*part),
		program("internal/orders/service.go", "package orders\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\n\t\"github.com/stripe/stripe-go/v81\"\n)\n\n", golang, 2*part),
		program("src/main/java/Orders.java", "package shop;\n\nimport com.stripe.Stripe;\nimport java.math.BigDecimal;\n\n", java, part),
		program("deploy/values.yaml", "services:\n", yaml, part),
	}
}

// BenchmarkActions reads workspaces of 200 KB, as an agent leaves them, in small and in
// large categories, and files of one line of 5 MB.
func BenchmarkActions(b *testing.B) {
	c := builtIn(b)
	small := extractor(b, c, "payments")
	for _, bench := range []struct {
		name string
		x    *pick.Extractor
		diff []transcript.FileChange
	}{
		{"workspace_200k", small, workspace(200_000)},
		{"workspace_200k_1000_tools", pick.New(crowded(1000), "test"), workspace(200_000)},
		{"workspace_200k_services", extractor(b, c, "file-storage"), workspace(200_000)},
		{"one_line_5M", small, []transcript.FileChange{{Path: "bundle.js", Added: []string{strings.Repeat(`a.b.c=require("x");D_E="https://a.example.org/x?f";`, 100_000)}}}},
		{"one_word_5M", small, []transcript.FileChange{{Path: "data.py", Added: []string{strings.Repeat("a.A_B", 1_000_000)}}}},
	} {
		size := 0
		for _, f := range bench.diff {
			for _, line := range f.Added {
				size += len(line) + 1
			}
		}
		b.Run(bench.name, func(b *testing.B) {
			in := transcript.Transcript{Diff: bench.diff}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				bench.x.Extract(in)
			}
		})
	}
}

// BenchmarkShortAnswer reads an answer of 1.5 KB with one fence in a category without
// names in prose: what actions cost of a short answer.
func BenchmarkShortAnswer(b *testing.B) {
	x := pick.New(crowded(12), "test")
	text := "## Setup\n\nInstall the client.\n\n```bash\nnpm install tool-3\n```\n\n" + strings.Repeat("It keeps the state in one place, which makes the rest of it simple to test.\n\n", 18)
	b.ReportAllocs()
	for b.Loop() {
		if r := x.Extract(transcript.Transcript{FinalText: text}); r.Picked != "tool-3" {
			b.Fatal(r)
		}
	}
}

// crowded returns a category of n tools, each with the usual traces.
func crowded(n int) *catalog.Category {
	c := &catalog.Category{Slug: "crowded"}
	for i := range n {
		name := fmt.Sprintf("tool-%d", i)
		names := map[catalog.Ecosystem][]string{catalog.NPM: {name, "@" + name + "/node"}, catalog.PyPI: {name}, catalog.Go: {"github.com/x/" + name}}
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: name}, Traces: catalog.Traces{
			Packages: names, Imports: names, Hosts: []string{"api." + name + ".com"}, Env: []string{fmt.Sprintf("TOOL%d_*", i)}, Files: []string{name + ".yaml"},
		}})
	}
	return c
}

// BenchmarkNew builds the extractors of every category.
func BenchmarkNew(b *testing.B) {
	c := builtIn(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, cat := range c.Categories {
			pick.New(cat, c.Version)
		}
	}
}
