package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// How long Argo CD lets a check run.
const checkTimeout = time.Second

// What Argo CD takes for an answer of a check.
var argoHealths = []string{"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"}

// The libraries that Argo CD opens for a check from argocd-cm, unless useOpenLibs is set there.
// Its os has nothing but date and time; ours has nothing at all.
var argoLibraries = map[string]lua.LGFunction{
	lua.LoadLibName: lua.OpenPackage,
	lua.BaseLibName: lua.OpenBase,
	lua.TabLibName:  lua.OpenTable,
}

type verdict struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type opinion struct {
	Argo    *verdict `json:"argo"`
	Kstatus verdict  `json:"kstatus"`
}

type question struct {
	Scripts map[string]string            `json:"scripts"`
	Objects []*unstructured.Unstructured `json:"objects"`
}

// luaValue gives a check the object as JSON has it: every number is a float, a list begins at 1.
func luaValue(state *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case string:
		return lua.LString(v)
	case []any:
		list := state.CreateTable(len(v), 0)
		for _, item := range v {
			list.Append(luaValue(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(v))
		for key, item := range v {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}

func open(state *lua.LState) error {
	for name, library := range argoLibraries {
		call := lua.P{Fn: state.NewFunction(library), Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return err
		}
	}
	return nil
}

func argoHealth(object *unstructured.Unstructured, script string) (*verdict, error) {
	if object.GetDeletionTimestamp() != nil { // then no check is asked
		return &verdict{"Progressing", "Pending deletion"}, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	if err := open(state); err != nil {
		return nil, err
	}
	state.SetContext(ctx)
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(script); err != nil {
		return nil, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return nil, fmt.Errorf("the check returns a %s, not a table", state.Get(-1).Type())
	}
	said := &verdict{}
	for name, into := range map[string]*string{"status": &said.Status, "message": &said.Message} {
		text, ok := table.RawGetString(name).(lua.LString)
		if !ok {
			return nil, fmt.Errorf("the check returns a table without a %s", name)
		}
		*into = string(text)
	}
	if !slices.Contains(argoHealths, said.Status) {
		return nil, fmt.Errorf("the check returns the status %q", said.Status)
	}
	return said, nil
}

func opinionOf(object *unstructured.Unstructured, scripts map[string]string) (*opinion, error) {
	result, err := status.Compute(object)
	if err != nil {
		return nil, err
	}
	said := &opinion{Kstatus: verdict{string(result.Status), result.Message}}
	if script, ok := scripts[object.GetKind()]; ok {
		said.Argo, err = argoHealth(object, script)
	}
	return said, err
}

func health() (any, error) {
	var asked question
	if err := read(&asked); err != nil {
		return nil, err
	}
	said := make([]*opinion, 0, len(asked.Objects))
	for _, object := range asked.Objects {
		one, err := opinionOf(object, asked.Scripts)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		said = append(said, one)
	}
	return said, nil
}
