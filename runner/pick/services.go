package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// An sdkForm is how one SDK of many services names a service.
type sdkForm struct {
	sdk catalog.SDK
	// prefixes are what stands before the name in a package or an import, by ecosystem.
	prefixes map[catalog.Ecosystem][]string
	// resources are what stands before the name in a type of Terraform resource.
	resources []string
	// program is the command whose first argument is the name.
	program string
	// calls match a call or constructor in code; the group is the name. Only lines with
	// one of the words are matched.
	words []string
	calls *lazyregexp.Regexp
	// python means that calls count only in answers that use the Python SDK of AWS.
	python bool
	// roots are the packages and imports of the whole SDK, which name only the vendor.
	roots map[catalog.Ecosystem][]string
	// shared means that all services have the same hosts and variables.
	shared bool
}

func sdkForms() []sdkForm {
	type names = map[catalog.Ecosystem][]string
	return []sdkForm{
		{sdk: catalog.AWS, program: "aws", resources: []string{"aws_"}, prefixes: names{
			catalog.NPM:      {"@aws-sdk/client-", "aws-cdk-lib/aws-", "@aws-cdk/aws-", "aws-sdk/clients/"},
			catalog.PyPI:     {"aws_cdk.aws_", "mypy_boto3_", "types_aiobotocore_"},
			catalog.Go:       {"github.com/aws/aws-sdk-go-v2/service/", "github.com/aws/aws-sdk-go/service/"},
			catalog.Cargo:    {"aws-sdk-", "aws_sdk_"},
			catalog.RubyGems: {"aws-sdk-"},
			catalog.Composer: {`Aws\`},
			catalog.Maven:    {"software.amazon.awssdk:", "software.amazon.awssdk.services.", "com.amazonaws.services.", "com.amazonaws:aws-java-sdk-", "aws.sdk.kotlin.services.", "aws.sdk.kotlin:"},
			catalog.NuGet:    {"AWSSDK.", "Amazon."},
		}, words: []string{"AWS.", "AWS::", "Aws::"}, calls: lazyregexp.MustCompile(`\b(?:AWS\.|AWS::|Aws::)([A-Z]\w+)`), roots: names{
			catalog.NPM:      {"aws-sdk"},
			catalog.PyPI:     {"boto3", "aioboto3", "botocore", "aiobotocore", "aws_cdk", "aws-cdk-lib"},
			catalog.Go:       {"github.com/aws/aws-sdk-go-v2", "github.com/aws/aws-sdk-go"},
			catalog.RubyGems: {"aws-sdk"},
			catalog.Composer: {"aws/aws-sdk-php"},
			catalog.Maven:    {"com.amazonaws:aws-java-sdk"},
		}},
		{sdk: catalog.AWS, python: true, words: []string{"client(", "resource("}, calls: lazyregexp.MustCompile(`\b(?:client|resource)\(\s*(?:service_name\s*=\s*)?["']([\w-]+)["']`)},
		{sdk: catalog.GCP, program: "gcloud", resources: []string{"google_"}, prefixes: names{
			catalog.NPM:      {"@google-cloud/"},
			catalog.PyPI:     {"google.cloud.", "google-cloud-"},
			catalog.Go:       {"cloud.google.com/go/"},
			catalog.Cargo:    {"google-cloud-", "google_cloud_"},
			catalog.RubyGems: {"google-cloud-", "google/cloud/"},
			catalog.Composer: {"google/cloud-", `Google\Cloud\`},
			catalog.Maven:    {"com.google.cloud:google-cloud-", "com.google.cloud."},
			catalog.NuGet:    {"Google.Cloud."},
		}},
		{sdk: catalog.Azure, program: "az", resources: []string{"azurerm_"}, prefixes: names{
			catalog.NPM:   {"@azure/"},
			catalog.PyPI:  {"azure-", "azure."},
			catalog.Go:    {"github.com/Azure/azure-sdk-for-go/sdk/", "github.com/Azure/azure-sdk-for-go/services/"},
			catalog.Cargo: {"azure-", "azure_"},
			catalog.Maven: {"com.azure:azure-", "com.azure."},
			catalog.NuGet: {"Azure.", "Microsoft.Azure."},
		}},
		{sdk: catalog.Firebase, prefixes: names{
			catalog.NPM:   {"firebase/", "firebase-admin/", "@firebase/", "@react-native-firebase/", "@angular/fire/", "firebase/compat/"},
			catalog.PyPI:  {"firebase_admin."},
			catalog.Go:    {"firebase.google.com/go/v4/", "firebase.google.com/go/"},
			catalog.Maven: {"com.google.firebase:firebase-", "com.google.firebase."},
		}, words: []string{"firebase.", "admin."}, roots: names{
			catalog.NPM:  {"firebase", "firebase-admin"},
			catalog.PyPI: {"firebase-admin", "firebase_admin"},
			catalog.Go:   {"firebase.google.com/go"},
		}, shared: true, calls: lazyregexp.MustCompile(`\b(?:firebase|admin)\.(auth|firestore|database|storage|messaging|functions|analytics|remoteConfig|appCheck)\(`)},
		{sdk: catalog.Supabase, shared: true, roots: names{
			catalog.NPM:  {"@supabase/supabase-js", "@supabase/ssr"},
			catalog.PyPI: {"supabase"},
		}, prefixes: names{catalog.NPM: {"@supabase/"}}, words: []string{"upabase"}, calls: lazyregexp.MustCompile(`(?i:\bsupabase\w*(?:\(\))?)\s*\.(auth|storage|from|rpc|channel|functions|realtime)\b`)},
	}
}

// services finds the targets of a service of an SDK. Its zero value finds nothing.
type services struct {
	forms []sdkForm
	names map[catalog.SDK]map[string][]*target
}

// newServices keeps the forms of the SDKs that the targets name.
func newServices(targets []*target) services {
	s := services{names: map[catalog.SDK]map[string][]*target{}}
	for _, t := range targets {
		for sdk, names := range t.Services {
			if s.names[sdk] == nil {
				s.names[sdk] = map[string][]*target{}
			}
			put(s.names[sdk], t, names, foldService)
		}
	}
	for _, f := range sdkForms() {
		if s.names[f.sdk] != nil {
			s.forms = append(s.forms, f)
		}
	}
	return s
}

// foldService returns a form in which all spellings of a service are alike.
func foldService(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`_./\:`, r) {
			return '-'
		}
		return r
	}, strings.ToLower(name))
}

// find returns the targets of the longest name with which a text begins.
func (s services) find(sdk catalog.SDK, text string) []*target {
	if len(text) > maxName {
		return nil
	}
	text = foldService(text)
	for end := len(text); end > 0; end = strings.LastIndexByte(text[:end], '-') {
		if found := s.names[sdk][text[:end]]; len(found) > 0 {
			return found
		}
	}
	return nil
}

// A use is a service that an answer uses, with the targets that it is.
type use struct {
	sdk     catalog.SDK // empty: none
	targets []*target
}

// byService returns the service that a package or module of an SDK is for.
func (s services) byService(eco catalog.Ecosystem, name string) use {
	out := use{}
	for _, f := range s.forms {
		if f.isRoot(eco, name) {
			continue
		}
		for _, prefix := range f.prefixes[eco] {
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok || isSetup(rest) {
				continue
			}
			out.sdk = f.sdk
			if found := s.find(f.sdk, rest); len(found) > 0 {
				return use{f.sdk, found}
			}
		}
	}
	return out
}

// isRoot reports whether a package or module is the whole SDK.
func (f sdkForm) isRoot(eco catalog.Ecosystem, name string) bool {
	return slices.Contains(f.roots[eco], name)
}

// isSetup reports whether a part of an SDK serves all services: it makes a client.
func isSetup(part string) bool {
	part, _, _ = strings.Cut(foldService(part), "-")
	switch part {
	case "", "app", "core", "common", "config", "credentials", "credential", "initialize", "identity", "types", "compat", "sdk", "util", "client", "aws":
		return true
	}
	return false
}

// byCall calls found with the services that a line of code calls or declares. python
// means that the answer uses the Python SDK of AWS.
func (s services) byCall(code string, python bool, found func(use)) {
	for _, f := range s.forms {
		for _, prefix := range f.resources {
			if name := resource(code, prefix); name != "" {
				found(use{f.sdk, s.find(f.sdk, name)})
			}
		}
		if f.calls == nil || f.python && !python || !containsAny(code, f.words) {
			continue
		}
		for _, m := range f.calls.FindAllStringSubmatch(code, maxImports) {
			if !isSetup(m[1]) {
				found(use{f.sdk, s.find(f.sdk, m[1])})
			}
		}
	}
}

// resource returns the type of the Terraform resource that a line declares, without the
// vendor's prefix; empty if it declares none.
func resource(code, prefix string) string {
	_, rest, ok := strings.Cut(code, `"`+prefix)
	if before, _, _ := strings.Cut(strings.TrimLeft(code, " \t"), " "); !ok || before != "resource" && before != "data" {
		return ""
	}
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// hasProgram reports whether a text has the name of a vendor's command in it.
func (s services) hasProgram(text string) bool {
	return slices.ContainsFunc(s.forms, func(f sdkForm) bool { return f.program != "" && strings.Contains(text, f.program+" ") })
}

// byProgram returns the service that a vendor's command works on.
func (s services) byProgram(words []string) use {
	for _, f := range s.forms {
		if f.program == "" || len(words) < 2 || program(words[0]) != f.program {
			continue
		}
		args := words[1:]
		for len(args) > 1 && strings.HasPrefix(args[0], "--") { // --region eu-west-1
			if args = args[1:]; !strings.HasPrefix(args[0], "-") && len(args) > 1 {
				args = args[1:]
			}
		}
		return use{f.sdk, s.find(f.sdk, strings.Join(args[:min(2, len(args))], "-"))}
	}
	return use{}
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// usage is what an answer shows of the services of each SDK.
type usage struct {
	sdks    map[catalog.SDK]bool // of which a service is used
	targets map[*target]bool     // whose service is
}

func (u *usage) add(s use) {
	if s.sdk == "" {
		return
	}
	if u.sdks == nil {
		u.sdks, u.targets = map[catalog.SDK]bool{}, map[*target]bool{}
	}
	u.sdks[s.sdk] = true
	for _, t := range s.targets {
		u.targets[t] = true
	}
}

// narrow removes the actions that show only a vendor whose other services the answer
// uses: a client of boto3 for "s3" is no sign of SES.
func (s services) narrow(actions []action, u usage) []action {
	if len(u.sdks) == 0 {
		return actions
	}
	return slices.DeleteFunc(actions, func(a action) bool {
		if u.targets[a.target] {
			return false
		}
		for _, f := range s.forms {
			if u.sdks[f.sdk] && a.target.Services[f.sdk] != nil && (a.vendor == f.sdk || f.shared && (a.Kind == "env" || a.Kind == "host")) {
				return true
			}
		}
		return false
	})
}

// vendorOf returns the SDK whose whole a package or module of a target is; empty if it is
// more than that.
func (s services) vendorOf(t *target, eco catalog.Ecosystem, name string) catalog.SDK {
	for _, f := range s.forms {
		if t.Services[f.sdk] == nil {
			continue
		}
		for _, root := range f.roots[eco] {
			rest, ok := strings.CutPrefix(name, root)
			if ok && (rest == "" || strings.ContainsAny(rest[:1], "/.")) {
				return f.sdk
			}
		}
	}
	return ""
}
