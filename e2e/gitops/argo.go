package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// The field manager of all that Argo CD applies on the server's side.
const argoManager = "argocd-controller"

type difference struct {
	Way     string          `json:"way"`
	Kind    string          `json:"kind"`
	Name    string          `json:"name"`
	Live    json.RawMessage `json:"live"`
	Desired json.RawMessage `json:"desired"` // what would be there after a sync
}

// withoutStatus is what Argo CD leaves out of every comparison by its own default, ignoreResourceStatusField: all.
type withoutStatus struct{}

func (withoutStatus) Normalize(object *unstructured.Unstructured) error {
	unstructured.RemoveNestedField(object.Object, "status")
	return nil
}

// serverApplier asks the server what an apply would make of an object, as Argo CD does through kubectl.
type serverApplier struct{ *cluster }

func (a serverApplier) ApplyResource(ctx context.Context, object *unstructured.Unstructured, strategy cmdutil.DryRunStrategy,
	_, _, serverSide bool, manager string) (string, error) {
	if strategy != cmdutil.DryRunServer || !serverSide {
		return "", fmt.Errorf("a diff wants to write")
	}
	where, err := a.of(object)
	if err != nil {
		return "", err
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return "", err
	}
	force := true
	made, err := where.Patch(ctx, object.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", err
	}
	text, err := made.MarshalJSON()
	return string(text), err
}

// argoWays are the ways in which Argo CD compares: its default, what ServerSideApply=true adds, and ServerSideDiff=true.
func argoWays(config *rest.Config, c *cluster) (map[string][]diff.Option, error) {
	_, parser, err := (&kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}).LoadOpenAPISchema(config)
	if err != nil {
		return nil, err
	}
	common := []diff.Option{diff.WithNormalizer(withoutStatus{}), diff.WithLogr(logr.Discard()), diff.WithManager(argoManager),
		diff.WithGVKParser(parser), diff.IgnoreAggregatedRoles(false)}
	return map[string][]diff.Option{
		"three-way":        common,
		"structured merge": append(common[:len(common):len(common)], diff.WithStructuredMergeDiff(true)),
		"server-side": append(common[:len(common):len(common)], diff.WithServerSideDiff(true),
			diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(serverApplier{c}))),
	}, nil
}

func argoDiff(ctx context.Context, config *rest.Config, objects []*unstructured.Unstructured) (any, error) {
	c, err := newCluster(config)
	if err != nil {
		return nil, err
	}
	ways, err := argoWays(config, c)
	if err != nil {
		return nil, err
	}
	found := []difference{}
	for _, desired := range objects {
		where, err := c.of(desired)
		if err != nil {
			return nil, err
		}
		live, err := where.Get(ctx, desired.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		for way, options := range ways {
			result, err := diff.Diff(desired.DeepCopy(), live.DeepCopy(), options...)
			if err != nil {
				return nil, fmt.Errorf("%s %s, %s: %w", desired.GetKind(), desired.GetName(), way, err)
			}
			if result.Modified {
				found = append(found, difference{way, desired.GetKind(), desired.GetName(), result.NormalizedLive, result.PredictedLive})
			}
		}
	}
	return found, nil
}
