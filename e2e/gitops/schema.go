package main

import (
	"encoding/json"
	"fmt"
	"reflect"

	helm "github.com/fluxcd/helm-controller/api/v2"
	kustomize "github.com/fluxcd/kustomize-controller/api/v1"
	source "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/yaml"
)

// The types that Flux itself decodes its objects into.
var fluxTypes = map[string]any{
	helm.GroupVersion.String() + "/HelmRelease":        helm.HelmRelease{},
	kustomize.GroupVersion.String() + "/Kustomization": kustomize.Kustomization{},
	source.GroupVersion.String() + "/GitRepository":    source.GitRepository{},
	source.GroupVersion.String() + "/OCIRepository":    source.OCIRepository{},
}

// fluxCheck says of each object what Flux would not take: a field that it does not know, or a value of another type.
func fluxCheck() (any, error) {
	var objects []map[string]any
	if err := read(&objects); err != nil {
		return nil, err
	}
	problems := []string{}
	for _, object := range objects {
		kind := fmt.Sprintf("%v/%v", object["apiVersion"], object["kind"])
		into, ok := fluxTypes[kind]
		if !ok {
			problems = append(problems, kind+": not a kind of Flux that is known here")
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, reflect.New(reflect.TypeOf(into)).Interface()); err != nil {
			problems = append(problems, kind+": "+err.Error())
		}
	}
	return problems, nil
}
