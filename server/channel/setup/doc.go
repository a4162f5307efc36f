// Package setup holds the instructions to install the collector, for a site's owner or
// their coding agent: the guide, a recipe for each stack, the code that recipes add to
// projects, and rules that detect the stacks of a project by its files.
//
// The code is in code/ as complete files, which the tests of servertest/installs run as
// served. Code and guides name the service [Placeholder]; the server replaces it by its
// address.
//
// The package is pure: it reads only the files of an fs.FS argument, and uses neither
// HTTP nor a store.
package setup
