package route_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/route"
)

func TestLimits(t *testing.T) {
	var table route.Table
	table.Add(map[string]route.Limits{"/api/*": {Unmetered: true}, "/api/large": {MaxBody: 5}})
	table.Add(map[string]route.Limits{"/rooms/{room}/files/{file}": {MaxBody: 7}, "/api/{any}/small": {MaxBody: 1}})
	for path, want := range map[string]route.Limits{
		"/api/large":        {MaxBody: 5},
		"/api/large/":       {MaxBody: route.DefaultMaxBody, Unmetered: true},
		"/api/":             {MaxBody: route.DefaultMaxBody, Unmetered: true},
		"/api/a/b/c":        {MaxBody: route.DefaultMaxBody, Unmetered: true},
		"/api/a/small":      {MaxBody: 1},
		"/api":              {MaxBody: route.DefaultMaxBody},
		"/apis/x":           {MaxBody: route.DefaultMaxBody},
		"/rooms/a/files/b":  {MaxBody: 7},
		"/rooms//files/b":   {MaxBody: route.DefaultMaxBody},
		"/rooms/a/files/":   {MaxBody: route.DefaultMaxBody},
		"/rooms/a/files":    {MaxBody: route.DefaultMaxBody},
		"/rooms/a/files/b/": {MaxBody: route.DefaultMaxBody},
		"/rooms/a/other/b":  {MaxBody: route.DefaultMaxBody},
		"":                  {MaxBody: route.DefaultMaxBody},
	} {
		if got := table.Of(path); got != want {
			t.Errorf("%q: %+v, want %+v", path, got, want)
		}
	}
	routes := []string{"/api/large", "/api/{any}/small", "/rooms/{room}/files/{file}"}
	if err := table.Check(routes); err != nil {
		t.Error(err)
	}
	for i, missing := range routes {
		if i == 0 {
			missing = "/api/large"
		}
		left := append(append([]string{}, routes[:i]...), routes[i+1:]...)
		if err := table.Check(left); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without the route %s: %v", missing, err)
		}
	}
}
