.DEFAULT_GOAL := help
LINT_VERSION  := $(shell sed -n '1s/^\# \(v[0-9.]*\).*/\1/p' .golangci.yml)
FUZZTIME      ?= 30s
CLIS          ?= $(HOME)/.cache/firstpick-clis

.PHONY: build test test-cli lint golden agents fuzz bench check help
build: ## Build the program to bin/firstpick
	go build -trimpath -o bin/firstpick ./cmd/firstpick

test: ## Run all tests under the race detector
	go test -race -shuffle=on ./... github.com/firstpick/firstpick/cmd/agentcollect/...

test-cli: ## Run real agent CLIs against a fake provider; npm installs them to CLIS
	.ci/test-cli $(CLIS)

lint: ## Check style and layers
	@.ci/lint $(LINT_VERSION)

golden: ## Rewrite golden files and script outputs; read the diff before you commit
	cp CHANGELOG.md server/public/docs/pages/changelog.md
	FIRSTPICK_UPDATE=1 go test ./fixtures/catalog ./server/public/docs -run 'TestCounts|TestEveryTool|TestCataloguePage'
	go test ./runner/eval -run TestGenerated -update
	go test ./runner/provider ./runner/cliagent ./runner/cliagent/stream -run 'TestRequests|TestBehaviours|TestSetups|TestGolden' -update
	FIRSTPICK_UPDATE=1 go test ./publish/bundle -run 'TestTheBundles?OfTheServers'
	go test ./cmd/progress ./cmd/labeller ./cmd/firstpick -update

agents: ## Make agents' names and address lists again from their sources; read the diff
	go run ./server/channel/agentid/gen
	go test ./server/channel/agentid/...

fuzz: ## Fuzz every target for FUZZTIME (30s)
	@.ci/fuzz $(FUZZTIME)

bench: ## Measure: reads, ranks, tokens, events, runs, each against a baseline
	.ci/bench-read
	.ci/bench-tokens
	.ci/bench-run
	.ci/bench-collect
	.ci/bench-reports
	.ci/bench-evals
	.ci/bench-mcp
	.ci/bench-publish
	go test ./analytics/trialstore -run '^$$' -bench Rank
	go test ./analytics/... ./runner/... -run '^$$' -bench . -benchtime 1s

check: ## All that CI runs
	.ci/run

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
