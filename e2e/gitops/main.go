// What GitOps tools make of Ostler's objects, by their own libraries: Argo CD's and Flux's. libraries.py asks it for the tests.
//
//	gitops parse < YAML                                            the documents as they are
//	gitops health < {"scripts": {KIND: LUA}, "objects": [...]}     what Argo CD's health checks and kstatus say of each object
//	gitops flux-check < [...]                                      what Flux would not take of objects of its own kinds
//	gitops argo-diff KUBECONFIG < [...]                            what is different from Git for Argo CD, in each of its ways
//	gitops flux-apply KUBECONFIG < [...]                           applies as Flux's kustomize-controller does
//	gitops flux-diff KUBECONFIG < [...]                            what has drifted for Flux
//
// Otherwise objects come as a JSON list on stdin, answers go as a JSON list to stdout.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	queriesPerSecond = 200
	bufferSize       = 4096
	usage            = "usage: gitops parse | health | flux-check | argo-diff KUBECONFIG | flux-apply KUBECONFIG | flux-diff KUBECONFIG"
)

// The commands that need no cluster.
var alone = map[string]func() (any, error){"parse": parse, "health": health, "flux-check": fluxCheck}

// The commands that need one.
var onCluster = map[string]func(context.Context, *rest.Config, []*unstructured.Unstructured) (any, error){
	"argo-diff":  argoDiff,
	"flux-apply": fluxApply,
	"flux-diff":  fluxDiff,
}

func configOf(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = queriesPerSecond, queriesPerSecond
	return config, nil
}

func read(into any) error {
	return json.NewDecoder(os.Stdin).Decode(into)
}

// parse reads the documents of a YAML file; empty ones count for nothing.
func parse() (any, error) {
	documents := yaml.NewYAMLOrJSONDecoder(os.Stdin, bufferSize)
	objects := []map[string]any{}
	for {
		var object map[string]any
		if err := documents.Decode(&object); err == io.EOF {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if object != nil {
			objects = append(objects, object)
		}
	}
}

func answer(args []string) (any, error) {
	if len(args) == 1 && alone[args[0]] != nil {
		return alone[args[0]]()
	}
	if len(args) != 2 || onCluster[args[0]] == nil {
		return nil, fmt.Errorf(usage)
	}
	config, err := configOf(args[1])
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	if err := read(&objects); err != nil {
		return nil, err
	}
	return onCluster[args[0]](context.Background(), config, objects)
}

func main() {
	said, err := answer(os.Args[1:])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(said)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "gitops: %v\n", err)
		os.Exit(1)
	}
}
