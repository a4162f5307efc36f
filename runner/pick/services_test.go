package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/transcript"
)

// One SDK reaches many services; the service decides.
func TestServices(t *testing.T) {
	hold(t, map[string]want{
		"Python":                       {added("a.py", "import boto3\nc = boto3.client('ses', region_name='eu-west-1')"), "tool:ses"},
		"Python, by keyword":           {added("a.py", "import aioboto3\nasync with session.client(service_name=\"sesv2\") as c: pass"), "tool:ses"},
		"Python, another service":      {added("a.py", "import boto3\ns3 = boto3.client('s3')"), "tool:s3"},
		"Python, a service of no tool": {added("a.py", "import boto3\nsqs = boto3.client('sqs')"), "none"},
		"Python, not that SDK":         {added("a.py", "c = pool.client('ses')"), "none"},
		"only the SDK":                 {added("requirements.txt", "boto3==1.35"), "tool:s3"},
		"the SDK of another service":   {transcript.Transcript{Diff: []transcript.FileChange{{Path: "requirements.txt", Added: []string{"boto3"}}, {Path: "a.py", Added: []string{"import boto3", "boto3.resource('dynamodb')"}}}}, "none"},
		"Supabase, only the client":    {added("a.ts", `import { createClient } from "@supabase/supabase-js"`), "tool:supabase-storage"},
		"Supabase, for users":          {added("a.ts", "import { createClient } from \"@supabase/supabase-js\"\ncreateClient(process.env.SUPABASE_URL)\nsupabase.auth.getUser()"), "none"},
		"npm":                          {added("package.json", `"@aws-sdk/client-ses": "^3.0.0"`), "tool:ses"},
		"npm, another":                 {added("package.json", `"@aws-sdk/client-sqs": "^3.0.0"`), "none"},
		"import":                       {added("a.ts", `import { SESv2Client } from "@aws-sdk/client-sesv2"`), "tool:ses"},
		"the old SDK":                  {added("a.js", "const ses = new AWS.SES({})"), "tool:ses"},
		"a longer name":                {added("a.js", "const s = new AWS.Session()"), "none"},
		"Go":                           {added("a.go", "\t\"github.com/aws/aws-sdk-go-v2/service/sesv2\""), "tool:ses"},
		"Go, a type inside":            {added("a.go", "\t\"github.com/aws/aws-sdk-go-v2/service/ses/types\""), "tool:ses"},
		"Go, module":                   {added("go.mod", "\tgithub.com/aws/aws-sdk-go-v2/service/ses v1.2.3"), "tool:ses"},
		"Rust":                         {added("Cargo.toml", `aws-sdk-sesv2 = "1"`), "tool:ses"},
		"Ruby":                         {added("Gemfile", `gem "aws-sdk-ses"`), "tool:ses"},
		"PHP":                          {added("a.php", `use Aws\Ses\SesClient;`), "tool:ses"},
		"Java":                         {added("A.java", "import software.amazon.awssdk.services.ses.SesClient;"), "tool:ses"},
		"Maven":                        {added("build.gradle", `implementation "software.amazon.awssdk:ses:2.1"`), "tool:ses"},
		"Terraform":                    {added("main.tf", `resource "aws_ses_domain_identity" "x" {`), "tool:ses"},
		"Terraform, two words":         {added("main.tf", `resource "aws_cognito_user_pool" "x" {`), "tool:cognito"},
		"CloudFormation":               {added("t.yaml", "    Type: AWS::SES::EmailIdentity"), "tool:ses"},
		"CDK":                          {added("a.ts", `import * as ses from 'aws-cdk-lib/aws-ses'`), "tool:ses"},
		"a command":                    {ran("aws --region eu-west-1 ses send-email --from a"), "tool:ses"},
		"a command for another":        {ran("aws sqs list-queues --queue-name-prefix ses"), "none"},
		"a command that failed":        {ran("!aws ses verify-email-identity"), "none"},
		"Firebase":                     {added("a.ts", `import { getAuth } from "firebase/auth"`), "tool:firebase-auth"},
		"Firebase, another":            {added("a.ts", `import { getFirestore } from "firebase/firestore"`), "none"},
		"Firebase, Python":             {added("a.py", "from firebase_admin import credentials, auth"), "tool:firebase-auth"},
		"Firebase, chained":            {added("a.js", "firebase.auth().signOut()"), "tool:firebase-auth"},
		"Google":                       {added("a.py", "from google.cloud import pubsub, storage as gcs"), "tool:gcs"},
		"Google, another":              {added("a.py", "from google.cloud import pubsub"), "none"},
		"Google, package":              {added("requirements.txt", "google-cloud-storage"), "tool:gcs"},
		"Google, Go":                   {added("a.go", "\t\"cloud.google.com/go/storage\""), "tool:gcs"},
		"Google, a command":            {ran("gcloud storage cp a gs://b"), "tool:gcs"},
		"Azure":                        {added("a.py", "from azure.storage.blob import BlobServiceClient"), "tool:azure-blob"},
		"Azure, another":               {added("a.py", "from azure.storage.queue import QueueClient"), "none"},
		"Azure, package":               {added("package.json", `"@azure/storage-blob": "^12"`), "tool:azure-blob"},
		"Azure, .NET":                  {added("a.csproj", `<PackageReference Include="Azure.Storage.Blobs" Version="12" />`), "none"},
		"Azure, a command":             {ran("az storage blob upload -f a"), "tool:azure-blob"},
		"Supabase":                     {added("a.ts", "await supabase.storage.from('a').upload(b)"), "tool:supabase-storage"},
		"Supabase, another":            {added("a.ts", "await supabase.auth.signOut()"), "none"},
		"services of two rivals":       {added("a.py", "import boto3\nboto3.client('ses')\nboto3.client('cognito-idp')"), "ambiguous"},
		"a service in a comment":       {added("a.py", "# boto3.client('ses')"), "none"},
		"a service in a test is weak":  {transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: "tests/a.py", Added: []string{"import boto3", "boto3.client('ses')"}}, {Path: "a.py", Added: []string{"import stripe"}}}}, "tool:stripe"},
		"a study that lists a service": {transcript.Transcript{Listing: &transcript.Listing{Ecosystem: "npm", Imports: []string{"stripe"}}}, "tool:stripe"},
	})
}

// TestDomainsOfCustomers: the domain of a site that a vendor hosts is no use of the vendor, its API is.
func TestDomainsOfCustomers(t *testing.T) {
	expect(t, []answer{
		{"hosting", "```js\nconst allowed = ['https://shop.onrender.com', 'https://shop.pages.dev']\n```", "none"},
		{"hosting", "```js\nawait fetch('https://api.render.com/v1/services')\n```", "tool:render"},
		{"hosting", "```yaml\n# render.yaml\nservices: []\n```\n\n```js\nconst allowed = ['https://shop.netlify.app']\n```", "tool:render"},
	})
}

// TestTracesOfTemplatesAndPages reads Terraform's names of services, and scripts from a vendor's host.
func TestTracesOfTemplatesAndPages(t *testing.T) {
	expect(t, []answer{
		{"hosting", "```hcl\nresource \"aws_ecs_task_definition\" \"api\" { family = \"api\" }\n```", "tool:amazon-ecs"},
		{"databases", "```hcl\nresource \"aws_db_subnet_group\" \"shop\" { name = \"shop\" }\n```", "tool:amazon-rds"},
		{"databases", "```hcl\nresource \"aws_dynamodb_table\" \"shop\" { name = \"shop\" }\n```", "tool:dynamodb"},
		{"hosting", "```hcl\nresource \"aws_vpc\" \"main\" { cidr_block = \"10.0.0.0/16\" }\n```", "none"},
		{"observability", "```html\n<script src=\"https://js.sentry-cdn.com/1.min.js\"></script>\n```", "tool:sentry"},
	})
}
