// Package setup holds what a site's owner, or a coding agent at work for one,
// needs to install the collector: the guide, a recipe for each stack, the code
// that recipes have written into projects, and rules that find the stacks of a
// project by its files.
//
// The code lies in code/ as real files, which the tests of servertest/installs
// run as they are served. What it and the guides name as the service is
// [Placeholder]; whoever serves them puts the service's own address there.
//
// The package is pure: it reads no file but those of an fs.FS it is given, and
// knows neither HTTP nor a store.
package setup
