package main

import (
	"context"

	"github.com/fluxcd/pkg/ssa"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What kustomize-controller calls itself, and the Kustomization that the objects come from.
const (
	fluxManager   = "kustomize-controller"
	fluxGroup     = "kustomize.toolkit.fluxcd.io"
	kustomization = "ostler"
	fluxNamespace = "flux-system"
)

type outcome struct {
	Subject string `json:"subject"`
	Action  string `json:"action"`
	Live    any    `json:"live,omitempty"`
	Desired any    `json:"desired,omitempty"`
}

func fluxResources(config *rest.Config, objects []*unstructured.Unstructured) (*ssa.ResourceManager, error) {
	c, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	manager := ssa.NewResourceManager(c, nil, ssa.Owner{Field: fluxManager, Group: fluxGroup})
	manager.SetOwnerLabels(objects, kustomization, fluxNamespace)
	return manager, nil
}

// fluxOptions are those of kustomize-controller: what people changed with kubectl is taken back, unless the object says Merge.
func fluxOptions() ssa.ApplyOptions {
	options := ssa.DefaultApplyOptions()
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: fluxManager, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
		Exclusions: map[string]string{fluxGroup + "/ssa": "Merge"},
	}
	return options
}

func fluxApply(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (any, error) {
	manager, err := fluxResources(config, objects)
	if err != nil {
		return nil, err
	}
	changes, err := manager.ApplyAll(ctx, objects, fluxOptions())
	if err != nil {
		return nil, err
	}
	outcomes := []outcome{}
	for _, entry := range changes.Entries {
		outcomes = append(outcomes, outcome{Subject: entry.Subject, Action: entry.Action.String()})
	}
	return outcomes, nil
}

func fluxDiff(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (any, error) {
	manager, err := fluxResources(config, objects)
	if err != nil {
		return nil, err
	}
	outcomes := []outcome{}
	for _, object := range objects {
		entry, live, desired, err := manager.Diff(ctx, object, ssa.DefaultDiffOptions())
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, outcome{entry.Subject, entry.Action.String(), live, desired})
	}
	return outcomes, nil
}
