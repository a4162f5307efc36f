package setup

import "slices"

// Stacks returns all stacks. Where several fit, those with the best view of a site are
// first: the server of the pages before proxies and CDNs.
func Stacks() []Stack {
	return slices.Concat(
		jsStacks(),
		serverStacks(),
		logStacks(),
		extras(),
	)
}

const (
	core       = "agent-collect.mjs"
	coreCode   = "js/agent-collect.mjs"
	removeCode = "Delete the files and the lines of step 3, and unset `FIRSTPICK_KEY`. Unsetting the key alone stops it too: the code then does nothing."
	removeLog  = "Stop the shipper, delete the log format and the log, and revoke the key: `DELETE /api/agent/keys/{id}`."
)

func jsStacks() []Stack {
	return []Stack{
		{
			Slug: "nextjs", Title: "Next.js 15 and 16", Way: ByCode,
			Summary: "A proxy (middleware before version 16) reports requests after they were answered. It cannot know the status of an answer; a Vercel log drain does.",
			Clues:   []Clue{{Name: "next.config.*"}, {Name: "package.json", Dep: "next"}},
			Files:   []File{{core, coreCode}, {"agent-collect-next.mjs", "nextjs/agent-collect-next.mjs"}, {"proxy.js", "nextjs/proxy.js"}},
			Folder:  "All three files go into the folder that has app or pages: src if they are in it, else the root of the project. For Next.js 15 name proxy.js middleware.js, and its function middleware.",
			Remove:  removeCode,
		},
		{
			Slug: "express", Title: "Express and Connect", Way: ByCode, Status: true,
			Summary: "A middleware reports requests when their answers are finished.",
			Clues:   []Clue{{Name: "package.json", Dep: "express"}, {Name: "package.json", Dep: "connect"}},
			Files:   []File{{core, coreCode}, {"agent-collect-express.mjs", "express/agent-collect-express.mjs"}},
			Remove:  removeCode,
		},
		{
			Slug: "fastify", Title: "Fastify", Way: ByCode, Status: true,
			Summary: "An onResponse hook reports requests after their answers were sent.",
			Clues:   []Clue{{Name: "package.json", Dep: "fastify"}},
			Files:   []File{{core, coreCode}, {"agent-collect-fastify.mjs", "fastify/agent-collect-fastify.mjs"}},
			Remove:  removeCode,
		},
		{
			Slug: "hono", Title: "Hono, on Node and at the edge", Way: ByCode, Status: true,
			Summary: "A middleware reports requests after the handlers are done, through waitUntil where the platform has it.",
			Clues:   []Clue{{Name: "package.json", Dep: "hono"}},
			Files:   []File{{core, coreCode}, {"agent-collect-hono.mjs", "hono/agent-collect-hono.mjs"}},
			Remove:  removeCode,
		},
		{
			Slug: "netlify", Title: "Netlify", Way: ByCode, Status: true,
			Summary: "An edge function in front of all pages reports requests, those that the CDN answers too.",
			Clues:   []Clue{{Name: "netlify.toml"}, {Name: "netlify"}},
			Files:   []File{{"netlify/" + core, coreCode}, {"netlify/edge-functions/agent-collect-edge.js", "netlify/agent-collect-edge.js"}},
			Remove:  removeCode,
		},
		{
			Slug: "cloudflare-worker", Title: "Cloudflare Workers", Way: ByCode, Status: true,
			Summary: "A wrapper around your Worker, or a Worker in front of a site, reports requests through waitUntil.",
			Clues:   []Clue{{Name: "wrangler.toml"}, {Name: "wrangler.json"}, {Name: "wrangler.jsonc"}},
			Files: []File{
				{core, coreCode}, {"agent-collect-worker.mjs", "cloudflare-worker/agent-collect-worker.mjs"},
				{"worker-in-front.mjs", "cloudflare-worker/worker.mjs"},
			},
			Remove: removeCode + " Delete the route of a Worker in front.",
		},
		{
			Slug: "vercel", Title: "Vercel log drain", Way: ByDrain, Status: true,
			Summary: "Vercel sends the log of all requests, those that its CDN answers too. No code; needs a Pro or Enterprise plan.",
			Clues:   []Clue{{Name: "vercel.json"}, {Name: ".vercel"}},
			Remove:  "Delete the drain in the team's settings, and revoke its key: `DELETE /api/agent/keys/{id}`.",
		},
	}
}

func serverStacks() []Stack {
	return []Stack{
		{
			Slug: "go", Title: "Go net/http", Way: ByCode, Status: true,
			Summary: "A wrapper around your handler reports requests when they are answered.",
			Clues:   []Clue{{Name: "go.mod"}},
			Remove:  "Take out the lines of step 3 and run `go mod tidy`. Unsetting `FIRSTPICK_KEY` alone stops it too.",
		},
		{
			Slug: "python", Title: "Python: WSGI and ASGI, Django, Flask, FastAPI", Way: ByCode, Status: true,
			Summary: "A WSGI or ASGI middleware of one file, without dependencies, reports requests from a thread of its own.",
			Clues: []Clue{
				{Name: "manage.py"}, {Name: "wsgi.py"}, {Name: "asgi.py"},
				{Name: "requirements*.txt", Has: python}, {Name: "pyproject.toml", Has: python}, {Name: "Pipfile", Has: python}, {Name: "setup.py", Has: python},
			},
			Files:  []File{{"agent_collect.py", "python/agent_collect.py"}},
			Remove: removeCode,
		},
		{
			Slug: "rails", Title: "Rails and Rack", Way: ByCode, Status: true,
			Summary: "A Rack middleware of one file, without gems, reports requests from a thread of its own.",
			Clues:   []Clue{{Name: "config.ru"}, {Name: "Gemfile", Has: `(?i)["'](rails|rack|sinatra|hanami|roda|puma)["']`}},
			Files:   []File{{"lib/agent_collect.rb", "ruby/agent_collect.rb"}},
			Remove:  removeCode,
		},
		{
			Slug: "wordpress", Title: "WordPress", Way: ByCode, Status: true,
			Summary: "A must-use plugin of one file reports requests after their answers were sent.",
			Clues:   []Clue{{Name: "wp-config.php"}, {Name: "wp-config-sample.php"}, {Name: "wp-content"}},
			Files:   []File{{"wp-content/mu-plugins/agent-collect.php", "php/agent-collect.php"}},
			Remove:  "Delete `wp-content/mu-plugins/agent-collect.php` and the constants of step 3.",
		},
		{
			Slug: "php", Title: "PHP and Laravel", Way: ByCode, Status: true,
			Summary: "One file, included first, reports the request at the end of the process; in Laravel a terminable middleware does.",
			Clues:   []Clue{{Name: "composer.json"}, {Name: "artisan"}, {Name: "index.php"}},
			Files:   []File{{"agent-collect.php", "php/agent-collect.php"}, {"app/Http/Middleware/CollectAgents.php", "laravel/CollectAgents.php"}},
			Remove:  removeCode,
		},
	}
}

const (
	python = `(?im)(?:^|["',\[\s])(django|flask|fastapi|starlette|uvicorn|gunicorn|pyramid|bottle|litestar|quart)\b`
	access = "Nothing in the site's code changes; the access log is read by `firstpick traffic ship`, which keeps people's page views to itself."
)

func logStacks() []Stack {
	return []Stack{
		{
			Slug: "nginx", Title: "nginx", Way: ByLog, Status: true, Summary: access,
			Clues:  []Clue{{Name: "nginx.conf"}, {Name: "*.conf", Has: `(?m)^\s*(server\s*\{|proxy_pass\s|fastcgi_pass\s)`}, {Name: "Dockerfile", Has: `(?mi)^\s*FROM\s+\S*nginx`}},
			Files:  []File{{"firstpick.conf", "nginx/firstpick.conf"}},
			Remove: removeLog,
		},
		{
			Slug: "caddy", Title: "Caddy", Way: ByLog, Status: true, Summary: access,
			Clues:  []Clue{{Name: "Caddyfile"}, {Name: "*.caddyfile"}},
			Files:  []File{{"firstpick.caddyfile", "caddy/Caddyfile"}},
			Remove: removeLog,
		},
		{
			Slug: "apache", Title: "Apache httpd", Way: ByLog, Status: true, Summary: access,
			Clues:  []Clue{{Name: "httpd.conf"}, {Name: "apache2.conf"}, {Name: "*.conf", Has: `(?mi)^\s*<VirtualHost`}},
			Files:  []File{{"firstpick.conf", "apache/firstpick.conf"}},
			Remove: removeLog,
		},
		{
			Slug: "logs", Title: "Any access log", Way: ByLog, Status: true,
			Summary: access + " Old logs give a first report at once.",
			Clues:   []Clue{{Name: "access.log*"}, {Name: "access_log*"}},
			Remove:  "Stop the shipper, and revoke the key: `DELETE /api/agent/keys/{id}`.",
		},
		{
			Slug: "cloudflare-logpush", Title: "Cloudflare Logpush", Way: ByDrain, Status: true,
			Summary: "Cloudflare pushes the log of all requests, those that its cache answers too. No code; needs an Enterprise plan.",
			Remove:  "Delete the Logpush job, and revoke its key: `DELETE /api/agent/keys/{id}`.",
		},
	}
}

func extras() []Stack {
	return []Stack{
		{
			Slug: "static", Title: "Static sites and hosts without code", Way: ByCode, Status: true,
			Summary: "There is no server to put code in, so something in front of the pages has to report: a Worker, an edge function, a drain or a log.",
			Clues: []Clue{
				{Name: "CNAME"}, {Name: "_config.yml"}, {Name: "mkdocs.yml"}, {Name: "docusaurus.config.*"}, {Name: "astro.config.*"}, {Name: "hugo.*"},
				{Name: "eleventy.config.*"}, {Name: "index.html"},
			},
			Remove: "As the way that you took says.",
		},
		{
			Slug: "mcp", Title: "MCP servers", Way: ByCode,
			Summary: "A wrapper around tool handlers reports calls with the name of the client, the best identity that an agent gives.",
			Clues: []Clue{
				{Name: "package.json", Dep: "@modelcontextprotocol/sdk"},
				{Name: "requirements*.txt", Has: mcpPython}, {Name: "pyproject.toml", Has: mcpPython}, {Name: "go.mod", Has: `modelcontextprotocol/go-sdk|mark3labs/mcp-go`},
			},
			Files:  []File{{core, coreCode}, {"agent-collect-mcp.mjs", "mcp/agent-collect-mcp.mjs"}},
			Remove: removeCode,
		},
		{
			Slug: "conversions", Title: "Conversions: sign-ups, payments, refunds", Way: ByCode,
			Summary: "Two calls tell which visits became customers: identify at login, convert at sign-up and in the webhook of the payment.",
			Clues: []Clue{
				{Name: "package.json", Dep: "stripe"}, {Name: "requirements*.txt", Has: stripe}, {Name: "pyproject.toml", Has: stripe}, {Name: "Gemfile", Has: stripe},
				{Name: "composer.json", Has: stripe}, {Name: "go.mod", Has: `stripe-go`},
			},
			Files:  []File{{"agent-conversions.mjs", "conversions/agent-conversions.mjs"}},
			Remove: removeCode,
		},
	}
}

const (
	mcpPython = `(?im)(?:^|["',\[\s])(mcp|fastmcp)\b`
	stripe    = `(?im)\bstripe\b`
)
