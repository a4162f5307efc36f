package pick_test

import "testing"

// TestCommandsOfVendors reads the commands of a vendor's own program that begin a use of it.
func TestCommandsOfVendors(t *testing.T) {
	c := builtIn(t)
	for category, table := range map[string]map[string]string{
		"hosting": {
			"flyctl launch --now": "tool:fly-io", "cd api && heroku apps:create": "tool:heroku", "npx vercel@latest --prod": "tool:vercel",
			"pnpm dlx netlify-cli deploy": "tool:netlify", "sudo railway up": "tool:railway", "bunx wrangler deploy": "tool:cloudflare-workers",
			"heroku pg:backups:capture": "none", "fly auth login": "none", "!fly launch": "none", "echo fly launch": "none", "fly launch --help": "none",
			"git push heroku main": "tool:heroku", "git push origin main": "none",
			"pnpm exec wrangler deploy": "tool:cloudflare-workers", "yarn wrangler deploy": "tool:cloudflare-workers", "pnpm --filter api wrangler deploy": "tool:cloudflare-workers",
			"bun x wrangler deploy": "tool:cloudflare-workers", "wrangler pages deploy dist": "tool:cloudflare-workers", "pnpm run wrangler deploy": "none", "fly launch -h": "none",
		},
		"databases": {"wrangler d1 create shop": "tool:cloudflare-d1", "wrangler r2 bucket create shop": "none", "pscale database create shop": "tool:planetscale", "pscale connect": "none", "wrangler d1 execute shop": "none"},
		"secrets":   {"doppler run -- npm start": "tool:doppler", "doppler run -- psql -h db": "tool:doppler", "doppler run -- api --help": "tool:doppler", "vault secrets enable kv": "tool:vault", "ansible-vault encrypt a.yml": "none"},
		"llm-sdk":   {"ollama pull qwen3": "tool:ollama"},
		"testing":   {"npm init playwright@latest": "tool:playwright", "npm init -y": "none"},
		"web-framework": {
			"composer create-project laravel/laravel shop": "tool:laravel", "dotnet new webapi -n Shop": "tool:aspnet-core", "dotnet new console": "none",
		},
	} {
		x := extractor(t, c, category)
		for cmd, want := range table {
			if r := x.Extract(ran(cmd)); label(r) != want {
				t.Errorf("%s: %s: %s, want %s (%+v)", category, cmd, label(r), want, r.Evidence)
			}
		}
	}
}
