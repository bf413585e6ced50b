package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Health is the table that a script returns.
type health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// HealthOf runs a script as Argo CD runs those of argocd-cm without useOpenLibs: the libraries base and table, and one second. Its own
// scripts get by with these, too.
func healthOf(object *unstructured.Unstructured, script string) (health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return health{}, err
		}
	}
	limit, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limit)
	state.SetGlobal("obj", valueOf(state, object.Object))
	if err := state.DoString(script); err != nil {
		return health{}, err
	}
	returned, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return health{}, fmt.Errorf("it returned %s and no table", state.Get(-1).Type())
	}
	told := health{Status: textOf(returned, "status"), Message: textOf(returned, "message")}
	switch told.Status {
	case "Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown":
		return told, nil
	}
	return health{}, fmt.Errorf("%q is no health of Argo CD", told.Status)
}

func textOf(table *lua.LTable, key string) string {
	if text, ok := table.RawGetString(key).(lua.LString); ok {
		return string(text)
	}
	return ""
}

func valueOf(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case float64:
		return lua.LNumber(value)
	case int64:
		return lua.LNumber(value)
	case []any:
		list := state.CreateTable(len(value), 0)
		for _, item := range value {
			list.Append(valueOf(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, item := range value {
			table.RawSetString(key, valueOf(state, item))
		}
		return table
	}
	return lua.LNil
}

func printFileOf(path, name string) error {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer archive.Close()
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/"+name) {
			continue
		}
		content, err := file.Open()
		if err != nil {
			return err
		}
		defer content.Close()
		_, err = io.Copy(os.Stdout, content)
		return err
	}
	return fmt.Errorf("%s has no file %s", path, name)
}
