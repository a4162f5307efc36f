module github.com/firstpick/firstpick/cmd/agentcollect

go 1.25.0
