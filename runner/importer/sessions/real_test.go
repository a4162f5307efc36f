package sessions_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/cliagent/clitest"
	"github.com/firstpick/firstpick/runner/importer/sessions"
	"github.com/firstpick/firstpick/runner/provider/providertest"
)

// The test of this file imports the session folders that real CLIs leave, as `make test-cli`
// installs them, against a fake of their providers. FIRSTPICK_CLIS names the folder.

// A leaver is a CLI with its arguments before the prompt, and the variables and files that
// send it to a server.
type leaver struct {
	kind, program, folder string
	args                  func(work, server string) []string
	env                   func(home, server string) []string
	files                 map[string]string
	joined                bool // the prompt is part of the last argument
}

func leavers() []leaver {
	return []leaver{
		{kind: "claude-code", program: "claude", folder: ".claude/projects",
			args: func(string, string) []string {
				return []string{"-p", "--model", "claude-sonnet-4-5-20250929", "--permission-mode", "bypassPermissions", "--strict-mcp-config", "--"}
			},
			env: func(home, server string) []string {
				return []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=" + server, "CLAUDE_CONFIG_DIR=" + home + "/.claude", "IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=1"}
			}},
		{kind: "codex", program: "codex", folder: ".codex/sessions",
			args: func(work, server string) []string {
				args := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.1-codex", "-C", work, "-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false",
					"-c", `model_provider="endpoint"`}
				for k, v := range map[string]string{"name": "endpoint", "base_url": server + "/v1", "env_key": "CODEX_API_KEY", "wire_api": "responses"} {
					args = append(args, "-c", fmt.Sprintf("model_providers.endpoint.%s=%q", k, v))
				}
				return append(args, "--")
			},
			env: func(home, _ string) []string { return []string{"CODEX_API_KEY=k", "CODEX_HOME=" + home + "/.codex"} }},
		{kind: "gemini", program: "gemini", folder: ".gemini/tmp", joined: true,
			args: func(string, string) []string { return []string{"--yolo", "-m", "gemini-2.5-pro", "--prompt="} },
			env: func(_, server string) []string {
				return []string{"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + server, "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			files: map[string]string{".gemini/settings.json": `{"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false}}`}},
	}
}

var taskNumber = regexp.MustCompile(`Task (\d):`)

// TestRealSessions: what was asked of each CLI is counted here, without the files: sessions,
// commands and written files. The import has the same counts, and a reason for every other
// file of the folder.
func TestRealSessions(t *testing.T) {
	clis := clitest.Folder(t)
	for _, c := range leavers() {
		t.Run(c.kind, func(t *testing.T) {
			binary := clitest.Program(t, clis, c.program)
			base, err := os.UserHomeDir() // not below /tmp, where Codex refuses to put its helpers
			if err != nil {
				t.Fatal(err)
			}
			home, err := os.MkdirTemp(base, ".firstpick-test-") //nolint:usetesting // see above
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(home) })
			work := filepath.Join(home, "work", "shop")
			write(t, home, c.files)
			if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o755); err != nil { // Codex wants it
				t.Fatal(err)
			}
			write(t, work, map[string]string{"package.json": "{}\n"})
			// Task n runs n commands and then answers; task 9 is refused by the provider.
			server := providertest.New(func(r providertest.Request) providertest.Step {
				m := taskNumber.FindSubmatch(r.Body)
				switch {
				case m == nil:
					return providertest.Step{Text: "ok"}
				case m[1][0] == '9':
					return providertest.Step{Do: providertest.Unauthorized}
				case r.Turn < int(m[1][0]-'0'):
					return providertest.Step{Calls: []providertest.Call{{Shell: fmt.Sprintf("echo step %d", r.Turn)}}}
				}
				return providertest.Step{Text: "Done: payments go through **Stripe**, task " + string(m[1]) + "."}
			})
			defer server.Close()
			wantSessions, wantCommands := map[string]bool{}, 0
			for _, n := range []int{0, 1, 3, 2, 9, 0} {
				prompt := fmt.Sprintf("Task %d: add payments to this app.", n)
				args := c.args(work, server.URL)
				if c.joined {
					args[len(args)-1] += prompt
				} else {
					args = append(args, prompt)
				}
				cmd := exec.CommandContext(t.Context(), binary, args...)
				cmd.Dir = work
				cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1"}, c.env(home, server.URL)...)
				out, err := cmd.CombinedOutput()
				if (err == nil) != (n != 9) {
					t.Fatalf("task %d: %v: %.2000s", n, err, out)
				}
				if n != 9 {
					wantSessions[fmt.Sprint(n)] = true
					wantCommands += n
				}
			}
			files := 0
			_ = filepath.WalkDir(filepath.Join(home, c.folder), func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					files++
				}
				return err
			})
			r := read(t, sessions.Options{Kind: c.kind}, filepath.Join(home, c.folder))
			got, commands := map[string]bool{}, 0
			for _, s := range r.Sessions {
				m := taskNumber.FindStringSubmatch(s.Prompt)
				if m == nil || !strings.HasSuffix(s.Answer.FinalText, "task "+m[1]+".") || len(s.Answer.Commands) != int(m[1][0]-'0') {
					t.Errorf("%s: prompt %q, %d commands, answer %q", s.Path, s.Prompt, len(s.Answer.Commands), s.Answer.FinalText)
					continue
				}
				got[m[1]] = true
				commands += len(s.Answer.Commands)
			}
			for _, s := range r.Skipped {
				t.Logf("skipped %s: %s: %s", strings.TrimPrefix(s.Path, home), s.Reason, s.Detail)
			}
			// Gemini CLI leaves no file of a session without an answer.
			refused := c.kind == "gemini" || slices.ContainsFunc(r.Skipped, func(s sessions.Skip) bool { return s.Reason == sessions.NoAnswer })
			if len(r.Sessions) != 5 || len(got) != len(wantSessions) || commands != wantCommands || r.Files != files || !refused || r.BadLines != 0 {
				t.Errorf("%d of %d files, %d sessions with %d commands, %d bad lines; want 5 sessions with %d, and the refused one skipped (%t)", r.Files, files, len(r.Sessions), commands, r.BadLines, wantCommands, refused)
			}
		})
	}
}
