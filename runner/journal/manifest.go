package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// A Manifest describes an agent for a reproduction: a number without it cannot be
// compared with another. It has the names of keys and environment variables, not their
// values.
type Manifest struct {
	Agent string `json:"agent"`
	Kind  string `json:"kind"`
	// Model is the requested model.
	Model    string `json:"model,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`
	// Version and Binary, the SHA-256 of the program, are set for an agent CLI.
	Version string   `json:"version,omitempty"`
	Binary  string   `json:"binary_sha256,omitempty"`
	Args    []string `json:"args,omitempty"` // {prompt}, {workdir} and {home} replace the varying parts
	Env     []string `json:"env,omitempty"`  // names
	// Conditions: web search on, off or the agent's default; the network of commands;
	// the sandbox; how much of the user's setup is visible.
	Web     string `json:"web,omitempty"`
	Network string `json:"network,omitempty"`
	Sandbox string `json:"sandbox,omitempty"`
	Purity  string `json:"purity,omitempty"`
	Auth    string `json:"auth,omitempty"`
	// Parameters are sent with each request.
	Parameters map[string]string `json:"parameters,omitempty"`
	// Templates are the digests of the project templates.
	Templates map[string]string `json:"templates,omitempty"`
	// Prices is the version of the price table.
	Prices string `json:"prices,omitempty"`
}

// ID returns the manifest's identity, 16 hexadecimal digits.
func (m Manifest) ID() string {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts always encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
