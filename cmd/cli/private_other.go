//go:build !unix

package cli

func keepPrivate() {}
