package pick

import (
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A manager is a package manager and the grammar of its commands.
type manager struct {
	programs []string // names of it
	eco      catalog.Ecosystem
	verbs    []verb
	// valued are flags whose next word is their value, packaged those whose value
	// names packages.
	valued, packaged flags
	// dev are flags that put packages among the tools of the developers, trial those that
	// change nothing.
	dev, trial flags
	registry   string // prefix of packages; others are from elsewhere
	// bins are the words before a program of an installed package; may be empty.
	bins [][]string
}

type verb struct {
	words  []string // after the program; a * is any one word
	op     operation
	global bool
}

type operation int

const (
	add    operation = iota
	remove           // packages
	run              // a package, with arguments of its own
	create           // a project, by a package named after it
)

func verbsOf(op operation, words ...string) []verb {
	var out []verb
	for _, w := range words {
		out = append(out, verb{words: strings.Fields(w), op: op})
	}
	return out
}

func names(list string) []string { return strings.Fields(list) }

// join is one list of several.
func join(lists ...[]verb) []verb {
	var out []verb
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func globally(words ...string) []verb {
	var out []verb
	for _, w := range words {
		out = append(out, verb{words: strings.Fields(w), global: true})
	}
	return out
}

func managers() []manager {
	return append(append(nodeManagers(), pythonManagers()...), otherManagers()...)
}

func nodeManagers() []manager {
	eco := catalog.NPM
	return []manager{
		{
			programs: names("npm"), eco: eco, dev: flagsOf("-D --save-dev"), packaged: flagsOf("-p --package"),
			valued: flagsOf("-w --workspace --prefix -C --registry --tag --cache --loglevel --userconfig --omit --include --before --otp -c --call --location"),
			verbs: join(verbsOf(add, "install", "i", "add", "in", "workspace * install", "workspace * add"),
				verbsOf(remove, "uninstall", "remove", "rm", "un", "r", "unlink"), verbsOf(run, "exec", "x"), verbsOf(create, "create", "init", "innit")),
		},
		{
			programs: names("npx"), eco: eco, packaged: flagsOf("-p --package"), valued: flagsOf("-c --call -w --workspace --registry --prefix"),
			verbs: verbsOf(run, ""),
		},
		{
			programs: names("pnpm"), eco: eco, dev: flagsOf("-D --save-dev"), packaged: flagsOf("--package"),
			valued: flagsOf("--filter -F --filter-prod -C --dir --registry --store-dir --reporter --loglevel --save-catalog-name"),
			verbs:  join(verbsOf(add, "add", "install", "i"), verbsOf(remove, "remove", "rm", "uninstall", "un"), verbsOf(run, "dlx"), verbsOf(create, "create")),
			bins:   [][]string{{"exec"}, {}},
		},
		{programs: names("pnpx"), eco: eco, verbs: verbsOf(run, "")},
		{
			programs: names("yarn yarnpkg"), eco: eco, dev: flagsOf("-D --dev"), packaged: flagsOf("-p --package"),
			valued: flagsOf("--cwd --registry --modules-folder --cache-folder --mutex --network-timeout"),
			verbs: join(verbsOf(add, "add", "workspace * add"), globally("global add"), verbsOf(remove, "remove", "workspace * remove"),
				verbsOf(run, "dlx"), verbsOf(create, "create")),
			bins: [][]string{{"exec"}, {"run"}, {}},
		},
		{
			programs: names("bun"), eco: eco, dev: flagsOf("-d -D --dev"), valued: flagsOf("--cwd --registry -c --config --cache-dir --backend --filter -F"),
			verbs: join(verbsOf(add, "add", "a", "install", "i"), verbsOf(remove, "remove", "rm"), verbsOf(run, "x"), verbsOf(create, "create")),
			bins:  [][]string{{"run"}, {}},
		},
		{programs: names("bunx"), eco: eco, packaged: flagsOf("-p --package"), verbs: verbsOf(run, "")},
		{
			programs: names("deno"), eco: eco, dev: flagsOf("-D --dev"), registry: "npm", valued: flagsOf("-c --config --import-map --root -n --name"),
			verbs: join(verbsOf(add, "add", "install", "i"), verbsOf(remove, "remove", "rm"), verbsOf(run, "run")),
		},
	}
}

func pythonManagers() []manager {
	eco := catalog.PyPI
	pip := "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links -t --target --prefix --root --src --platform " +
		"--python-version --implementation --abi --no-binary --only-binary --progress-bar --proxy --timeout --retries --trusted-host --cert --client-cert " +
		"--cache-dir --log --python --upgrade-strategy --root-user-action -C --config-settings --report --use-feature --exists-action"
	uv := "--group --index --default-index --index-url --extra-index-url --find-links -f --extra --package --script -r --requirements -c --constraints -p --python " +
		"--project --directory --tag --branch --rev --optional -m --marker -P --upgrade-package --link-mode --resolution --prerelease --exclude-newer --cache-dir " +
		"--config-file --color --bounds -e --editable --target --prefix --no-binary --only-binary --no-binary-package --no-build-package --with-editable --with-requirements --env-file"
	return []manager{
		{programs: names("pip"), eco: eco, valued: flagsOf(pip), verbs: join(verbsOf(add, "install"), verbsOf(remove, "uninstall"))},
		{
			programs: names("uv"), eco: eco, dev: flagsOf("--dev"), valued: flagsOf(uv), packaged: flagsOf("--from --with -w"),
			verbs: join(verbsOf(add, "add", "pip install"), globally("tool install"), verbsOf(run, "tool run"), verbsOf(remove, "remove", "pip uninstall")),
		},
		{programs: names("uvx"), eco: eco, valued: flagsOf(uv), packaged: flagsOf("--from --with -w"), verbs: verbsOf(run, "")},
		{
			programs: names("poetry"), eco: eco, dev: flagsOf("-D --dev"), valued: flagsOf("-G --group -E --extras --source --python --platform -C --directory -P --project --markers"),
			verbs: join(verbsOf(add, "add"), verbsOf(remove, "remove")),
		},
		{
			programs: names("pdm"), eco: eco, dev: flagsOf("-d --dev"), valued: flagsOf("-G --group -p --project -e --editable -c --config -L --lockfile"),
			verbs: join(verbsOf(add, "add"), verbsOf(remove, "remove")),
		},
		{
			programs: names("pipenv"), eco: eco, dev: flagsOf("-d --dev"), valued: flagsOf(pip + " --categories --extra-pip-args --pypi-mirror"),
			verbs: join(verbsOf(add, "install"), verbsOf(remove, "uninstall")),
		},
		{
			programs: names("conda mamba micromamba"), eco: eco, trial: flagsOf("-d"), valued: flagsOf("-c --channel -n --name -p --prefix --file --solver"),
			verbs: join(verbsOf(add, "install"), verbsOf(remove, "remove", "uninstall")),
		},
		{
			programs: names("pipx"), eco: eco, packaged: flagsOf("--spec"), valued: flagsOf("--python --suffix -i --index-url --pip-args"),
			verbs: join(globally("install"), verbsOf(run, "run")),
		},
	}
}

func otherManagers() []manager {
	docker := "-p --publish -v --volume -e --env --env-file --name --network --net -w --workdir -u --user --mount -m --memory --entrypoint --platform -l --label " +
		"--restart -h --hostname --add-host --gpus --shm-size --ulimit --cpus --pull --ip --dns --cap-add --cap-drop --device --tmpfs --volumes-from --link " +
		"--log-driver --log-opt --health-cmd --health-interval --health-retries --health-timeout --network-alias --expose --security-opt --stop-timeout --cidfile"
	return []manager{
		{programs: names("go"), eco: catalog.Go, valued: flagsOf("-C -tags -ldflags -gcflags -mod -modfile -p -o"), verbs: join(verbsOf(add, "get"), globally("install"))},
		{
			programs: names("cargo"), eco: catalog.Cargo, dev: flagsOf("--dev --build"), trial: flagsOf("-n"),
			valued: flagsOf("-F --features --rename -p --package --path --git --branch --tag --rev --registry --target --manifest-path --color --version --vers --root --index --profile -j --jobs"),
			verbs:  join(verbsOf(add, "add"), globally("install"), verbsOf(remove, "remove", "rm")),
		},
		{
			programs: names("gem"), eco: catalog.RubyGems, valued: flagsOf("-v --version -i --install-dir -n --bindir -s --source -P --platform"),
			verbs: join(verbsOf(add, "install"), verbsOf(remove, "uninstall")),
		},
		{
			programs: names("bundle bundler"), eco: catalog.RubyGems,
			valued: flagsOf("-v --version -g --group -s --source --git --github --branch --ref --path -r --require --glob"),
			verbs:  join(verbsOf(add, "add"), verbsOf(remove, "remove")),
		},
		{
			programs: names("composer"), eco: catalog.Composer, dev: flagsOf("--dev"), valued: flagsOf("-d --working-dir"),
			verbs: join(verbsOf(add, "require", "req", "create-project"), globally("global require"), verbsOf(remove, "remove", "rm")),
		},
		{
			programs: names("dotnet"), eco: catalog.NuGet, valued: flagsOf("-v --version -f --framework -s --source --package-directory --project --tool-path --add-source"),
			verbs: join(verbsOf(add, "add package", "add * package", "package add"), globally("tool install"),
				verbsOf(remove, "remove package", "remove * package", "package remove")),
		},
		{
			programs: names("apt-get apt aptitude dnf yum microdnf brew"), eco: catalog.System, trial: flagsOf("-s -n -d"),
			valued: flagsOf("-t --target-release -o --option -c --config-file --enablerepo --disablerepo"),
			verbs:  join(globally("install"), verbsOf(remove, "remove", "uninstall", "purge")),
		},
		{programs: names("apk"), eco: catalog.System, trial: flagsOf("-s"), valued: flagsOf("-t --virtual -X --repository -p --root"), verbs: join(globally("add"), verbsOf(remove, "del"))},
		{programs: names("docker podman"), eco: catalog.Docker, valued: flagsOf(docker), verbs: join(globally("pull"), verbsOf(run, "run", "container run", "create"))},
	}
}
