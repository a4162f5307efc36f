package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A Config is the merged configuration of file, environment and flags,
// in that order of growing weight. viper ends here: nothing else imports it.
type Config struct {
	// Data is the folder of runs, trials and snapshots.
	Data string `mapstructure:"data"`
	// Catalog is a folder of catalogue files; empty means the built-in one.
	Catalog string `mapstructure:"catalog"`
	// BaseURL is the public address of the server, without trailing slash;
	// empty means the address it listens on.
	BaseURL string `mapstructure:"base-url"`
	// Listen is the server's address, host:port.
	Listen string `mapstructure:"listen"`
	// Snapshots is the place of the snapshots, as file:///DIR or s3://BUCKET/PREFIX; empty
	// means Data.
	Snapshots string `mapstructure:"snapshots"`
	// Trust are files of public keys, of which one must have signed a snapshot that the
	// server serves; empty accepts unsigned snapshots.
	Trust []string `mapstructure:"trust"`
	// LogLevel is debug, info, warn or error; LogFormat is text or json.
	LogLevel  string `mapstructure:"log-level"`
	LogFormat string `mapstructure:"log-format"`
	// AccessLog switches the line per request.
	AccessLog bool `mapstructure:"access-log"`
	// Limits switches every rate limit: on or off.
	Limits string `mapstructure:"limits"`
	// LimitPublic is how many requests a minute one address may send to the
	// public read API.
	LimitPublic int `mapstructure:"limit-public"`
	// TrustedProxies are networks, as CIDR, whose X-Forwarded-For is believed.
	TrustedProxies []string `mapstructure:"trusted-proxies"`
	// State is the address of the state store; empty means SQLite in Data.
	State string `mapstructure:"state"`
	// StateKey is the master key of the store, 32 bytes in base64; empty means the
	// file state.key next to a SQLite store, or in Data.
	StateKey string `mapstructure:"state-key"`
	// Mail says how mail is sent, MailFrom whose name it carries.
	Mail     string `mapstructure:"mail"`
	MailFrom string `mapstructure:"mail-from"`
	// AdminEmail is whom the first start makes an operator.
	AdminEmail string `mapstructure:"admin-email"`
	// RegistrationTypes are the ways agents may register.
	RegistrationTypes []string `mapstructure:"registration-types"`
	// NewAccounts lets a trusted issuer's word make accounts.
	NewAccounts bool             `mapstructure:"new-accounts"`
	Issuers     []IssuerConfig   `mapstructure:"issuers"`
	OIDC        []ProviderConfig `mapstructure:"oidc"`
	// CallPrivate lets the server call private addresses that owners of workspaces
	// name: for tests, and for a network of one's own.
	CallPrivate bool `mapstructure:"call-private"`
	// CallPorts are ports that webhooks and the sites of workspaces may have besides 80
	// and 443.
	CallPorts []int `mapstructure:"call-ports"`
	// Prices is a file of prices instead of the built-in table.
	Prices string `mapstructure:"prices"`
	// Sandbox selects the sandbox of agent programs: auto, required, off, or a
	// container as docker:IMAGE or podman:IMAGE.
	Sandbox string `mapstructure:"sandbox"`
	// Binary says where programs are that are not in PATH, as NAME=PATH.
	Binary []string `mapstructure:"binary"`
	// KeepWork leaves the folders in which they worked in place, to look at.
	KeepWork bool `mapstructure:"keep-work"`
	// Server is the root address of the server that commands call. Remote is its old key.
	Server string `mapstructure:"server"`
	Remote string `mapstructure:"remote"`
	// EvalKey is a key of its eval API; empty means that in the file EvalKeyFile.
	EvalKey     string `mapstructure:"eval-key"`
	EvalKeyFile string `mapstructure:"eval-key-file"`
	// Bundles is the place of results of workspaces' runs, as file:///DIR or
	// s3://BUCKET/PREFIX; empty means Data.
	Bundles string `mapstructure:"bundles"`
	// EvalPrograms lets agents of workspaces' evals be programs on the workers' machines,
	// EvalPrivate lets them be asked at private addresses and over plain http.
	EvalPrograms bool `mapstructure:"eval-programs"`
	EvalPrivate  bool `mapstructure:"eval-private"`
	// WithWorker runs runs of workspaces in the server's own process, WorkerRuns of them
	// at a time.
	WithWorker bool `mapstructure:"with-worker"`
	WorkerRuns int  `mapstructure:"worker-runs"`
	// EvalLease is how long a worker may be silent before another takes its runs.
	EvalLease time.Duration `mapstructure:"eval-lease"`
	// EvalMaxTrials and EvalMaxBudget, in US dollars, bound a run of a workspace;
	// EvalMaxQueued bounds how many of its runs wait. 0 takes the defaults.
	EvalMaxTrials int     `mapstructure:"eval-max-trials"`
	EvalMaxBudget float64 `mapstructure:"eval-max-budget"`
	EvalMaxQueued int     `mapstructure:"eval-max-queued"`
	// EvalMaxTime is how long a worker works on a run of a workspace, EvalMaxTimeout how
	// long its agents may wait for an answer of a model.
	EvalMaxTime    time.Duration `mapstructure:"eval-max-time"`
	EvalMaxTimeout time.Duration `mapstructure:"eval-max-timeout"`
	// Metrics is where figures are served for Prometheus, host:port; empty for nowhere.
	Metrics string `mapstructure:"metrics"`
	// RegistryName is the service's name in the MCP registry; empty makes one of the
	// address. SecurityContact is a mailto: or https: address for security.txt.
	RegistryName    string `mapstructure:"registry-name"`
	SecurityContact string `mapstructure:"security-contact"`
	// BillingSecret are the secrets that a billing system signs its events with; without
	// any it is not listened to.
	BillingSecret []string `mapstructure:"billing-secret"`
	// Plans says whether evals need the paid plan: on, off, or empty for on where a billing
	// system is listened to.
	Plans string `mapstructure:"plans"`
	// LimitRules change limits by name, as QUOTA/WINDOW.
	LimitRules map[string]string `mapstructure:"limit-rules"`
	// Deprecated are the old keys that were set, each with the new one.
	Deprecated [][2]string `mapstructure:"-"`
	// DataSet says that Data was set, and not left at its default.
	DataSet bool `mapstructure:"-"`
	// File is the configuration file that was read; empty if absent.
	File string `mapstructure:"-"`
}

const (
	configName   = "firstpick.yaml"
	maxConfig    = 1 << 20
	demoListen   = "127.0.0.1:8080"
	perMinute    = 600
	envPrefix    = "FIRSTPICK_"
	keyDelimiter = "::" // a dot would split keys
)

// addConfigFlags adds the flags that every command has.
func addConfigFlags(f *pflag.FlagSet) {
	f.String("config", "", "configuration file (default: FIRSTPICK_CONFIG, or ./"+configName+" where it exists)")
	f.String("data", ".firstpick", "folder of runs, trials and snapshots")
	f.String("catalog", "", "folder of catalogue files (default: the built-in catalogue)")
	f.String("log-level", "info", "debug, info, warn or error")
	f.String("log-format", "text", "text or json")
}

// addServerFlag adds the flag of the server that a command calls, with its old name.
func addServerFlag(f *pflag.FlagSet, fallback, old string) {
	text := "URL of the firstpick server, such as https://firstpick.example"
	if fallback != "" {
		text = "URL of the firstpick server (default: FIRSTPICK_SERVER, " + fallback + ")"
	}
	f.String("server", "", text)
	renameFlag(f, old, "server")
}

// addAgentFlags adds the flags of commands that make agents.
func addAgentFlags(f *pflag.FlagSet) {
	f.String("prices", "", "YAML file of prices instead of the built-in table")
	f.String("sandbox", sandboxAuto, "sandbox for agent programs: auto (bubblewrap if available), required (fail without it), off, docker:IMAGE or podman:IMAGE")
	f.StringArray("binary", nil, "path of a program outside PATH, as NAME=PATH (repeatable)")
	f.Bool("keep-work", false, "keep the work folders of agent programs")
}

// loadConfig merges the file, the environment and the flags.
func loadConfig(env *Env, flags *pflag.FlagSet) (Config, error) {
	v := viper.NewWithOptions(viper.KeyDelimiter(keyDelimiter))
	defaults := configDefaults()
	for key, value := range defaults {
		v.SetDefault(key, value) // a key without default is invisible to the environment
	}
	named := configFile(env, flags)
	if err := readConfigFile(v, named); err != nil {
		return Config{}, err
	}
	if named == "" {
		if err := checkFound(env, v, flags, defaults); err != nil {
			return Config{}, err
		}
	}
	_, types := configKeys(reflect.TypeFor[Config]())
	for _, key := range v.AllKeys() {
		if s := env.Getenv(envName(key)); s != "" {
			if err := checkValue(s, types[key]); err != nil {
				return Config{}, usageErr("", "configuration: %s: %w", envName(key), err)
			}
			v.Set(key, s)
		}
		if f := flags.Lookup(key); f != nil && f.Changed {
			v.Set(key, flagValue(f))
		}
	}
	var c Config
	if err := v.UnmarshalExact(&c); err != nil { // what is checked above has better errors
		return Config{}, usageErr("firstpick init --server writes a "+configName+" with every key",
			"configuration: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	if c.Remote != "" {
		c.Deprecated = append(c.Deprecated, [2]string{"remote (FIRSTPICK_REMOTE)", "server (FIRSTPICK_SERVER)"})
		c.Server = cmp.Or(c.Server, c.Remote)
	}
	c.File = v.ConfigFileUsed()
	c.DataSet = v.InConfig("data") || env.Getenv(envPrefix+"DATA") != "" || flags.Changed("data")
	return c, c.check()
}

func configDefaults() map[string]any {
	return map[string]any{
		"data": ".firstpick", "catalog": "", "base-url": "", "listen": demoListen, "snapshots": "", "trust": []string{},
		"log-level": "info", "log-format": "text", "access-log": true, "limits": "on",
		"limit-public": perMinute, "trusted-proxies": []string{}, "call-private": false, "call-ports": []int{},
		"state": "", "state-key": "", "mail": "log:", "mail-from": "firstpick <firstpick@firstpick.invalid>", "admin-email": "admin@firstpick.invalid",
		"registration-types": []string{"anonymous", "service_auth", "identity_assertion"}, "new-accounts": true,
		"prices": "", "sandbox": sandboxAuto, "binary": []string{}, "keep-work": false, "server": "", "remote": "", "eval-key": "", "eval-key-file": "",
		"bundles": "", "eval-programs": false, "eval-private": false, "eval-lease": "30s", "with-worker": false, "worker-runs": 2, "eval-max-trials": 0, "eval-max-budget": 0.0, "eval-max-queued": 0, "eval-max-time": "6h", "eval-max-timeout": "15m",
		"metrics": "", "registry-name": "", "security-contact": "", "billing-secret": []string{}, "plans": "", "issuers": []any{}, "oidc": []any{}, "limit-rules": map[string]string{},
	}
}

func readConfigFile(v *viper.Viper, file string) error {
	if file == "" {
		if _, err := os.Stat(configName); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		file = configName
	}
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return usageErr("firstpick init writes one", "configuration file %s: no such file", file)
	}
	if err != nil {
		return badInput(fmt.Errorf("configuration: %w", err))
	}
	if info.Size() > maxConfig {
		return usageErr("check that it is the right file", "configuration: %s is larger than 1 MiB", file)
	}
	if err := checkConfigFile(file); err != nil {
		return err
	}
	v.SetConfigFile(file)
	v.SetConfigType("yaml")
	if err := v.ReadInConfig(); err != nil {
		return usageErr("", "configuration: %s: %w", file, err)
	}
	return nil
}

// registryName matches the names of the MCP registry.
var registryName = lazyregexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

func (c *Config) check() error {
	var errs []error
	if c.Data == "" {
		errs = append(errs, errors.New("data: must be a folder"))
	}
	if c.Limits != "on" && c.Limits != "off" {
		errs = append(errs, fmt.Errorf("limits must be on or off (got %q)%s", c.Limits, meant(c.Limits, "on", "off")))
	}
	if c.Plans != "" && c.Plans != "on" && c.Plans != "off" {
		errs = append(errs, fmt.Errorf("plans must be on, off or empty (got %q)%s", c.Plans, meant(c.Plans, "on", "off")))
	}
	if c.LimitPublic < 1 {
		errs = append(errs, fmt.Errorf("limit-public must be at least 1 (got %d)", c.LimitPublic))
	}
	for _, p := range c.CallPorts {
		if p < 1 || p > 65535 {
			errs = append(errs, fmt.Errorf("call-ports must be from 1 to 65535 (got %d)", p))
		}
	}
	errs = append(errs, checkSandbox(c.Sandbox), checkBinary(c.Binary))
	if c.LogFormat != "text" && c.LogFormat != "json" {
		errs = append(errs, fmt.Errorf("log-format must be text or json (got %q)%s", c.LogFormat, meant(c.LogFormat, "text", "json")))
	}
	if c.RegistryName != "" && !registryName.MatchString(c.RegistryName) {
		errs = append(errs, fmt.Errorf("registry-name must be a name such as dev.acme/firstpick (got %q)", c.RegistryName))
	}
	if c.SecurityContact != "" && !strings.HasPrefix(c.SecurityContact, "mailto:") && !strings.HasPrefix(c.SecurityContact, "https://") {
		errs = append(errs, fmt.Errorf("security-contact must begin with mailto: or https:// (got %q)", c.SecurityContact))
	}
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		switch {
		case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "":
			errs = append(errs, fmt.Errorf("base-url must be an http or https URL (got %q), such as https://firstpick.example.com", c.BaseURL))
		case strings.Trim(u.Path, "/") != "": // links of pages and well-known addresses begin at the root
			errs = append(errs, fmt.Errorf("base-url must not have a path (got %q); use a dedicated host name", c.BaseURL))
		}
		c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	}
	if c.EvalLease < time.Second {
		errs = append(errs, fmt.Errorf("eval-lease must be at least 1s (got %s)", c.EvalLease))
	}
	if c.EvalMaxTrials < 0 || c.EvalMaxBudget < 0 || c.EvalMaxQueued < 0 {
		errs = append(errs, errors.New("eval-max-trials, eval-max-budget, eval-max-queued: must not be negative"))
	}
	if c.EvalMaxTime < time.Minute || c.EvalMaxTimeout < time.Second {
		errs = append(errs, errors.New("eval-max-time must be at least 1m, eval-max-timeout at least 1s"))
	}
	if err := errors.Join(errs...); err != nil {
		return usageErr("", "configuration: %w", err)
	}
	return nil
}
