package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/argoproj/gitops-engine/pkg/diff"
	enginehealth "github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// Argo CD writes under this name.
const manager = "argocd-controller"

// A script in place of what the engine knows itself, as argocd-cm gives it to the engine.
type script string

func (text script) GetResourceHealth(object *unstructured.Unstructured) (*enginehealth.HealthStatus, error) {
	told, err := healthOf(object, string(text))
	if err != nil {
		return nil, err
	}
	return &enginehealth.HealthStatus{Status: enginehealth.HealthStatusCode(told.Status), Message: told.Message}, nil
}

// EngineHealthOf is what the engine of Argo CD makes of a script: it asks it unless the object goes.
func engineHealthOf(object *unstructured.Unstructured, text string) (health, error) {
	told, err := enginehealth.GetResourceHealth(object, script(text))
	if err != nil {
		return health{}, err
	}
	return health{Status: string(told.Status), Message: told.Message}, nil
}

// SyncAll applies objects as the engine of Argo CD does, by the client or by the server.
func syncAll(kubeconfig string, byServer bool) error {
	return withEngine(kubeconfig, func(engine *engine, wanted *unstructured.Unstructured) error {
		_, err := engine.resources.ApplyResource(
			context.Background(), wanted, util.DryRunNone, false, true, byServer, manager)
		return err
	})
}

// What the engine expects to change in an object, in each of its three ways: null where it sees no difference.
type difference struct {
	Name       string          `json:"name"`
	ThreeWay   json.RawMessage `json:"threeWay"`
	Structured json.RawMessage `json:"structured"`
	ServerSide json.RawMessage `json:"serverSide"`
}

// CompareAll prints a line of JSON for each object.
func compareAll(kubeconfig string) error {
	out := json.NewEncoder(os.Stdout)
	return withEngine(kubeconfig, func(engine *engine, wanted *unstructured.Unstructured) error {
		live, err := engine.kubectl.GetResource(
			context.Background(), engine.config, wanted.GroupVersionKind(), wanted.GetName(), wanted.GetNamespace())
		if err != nil {
			return err
		}
		found := difference{Name: wanted.GetKind() + " " + wanted.GetName()}
		for into, way := range map[*json.RawMessage]diff.Option{
			&found.ThreeWay:   diff.WithStructuredMergeDiff(false),
			&found.Structured: diff.WithStructuredMergeDiff(true),
			&found.ServerSide: diff.WithServerSideDiff(true),
		} {
			result, err := diff.Diff(wanted.DeepCopy(), live.DeepCopy(), append(engine.ways, way)...)
			if err != nil {
				return err
			}
			if *into = json.RawMessage("null"); result.Modified {
				*into = result.PredictedLive
			}
		}
		return out.Encode(found)
	})
}

type engine struct {
	config    *rest.Config
	kubectl   *kube.KubectlCmd
	resources kube.ResourceOperations
	ways      []diff.Option
}

// WithEngine hands each object of standard input, one line of JSON each, to what is to be done with it.
func withEngine(kubeconfig string, do func(*engine, *unstructured.Unstructured) error) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	silent, untraced := logr.Discard(), tracing.NopTracer{}
	kubectl := &kube.KubectlCmd{Log: silent, Tracer: untraced}
	schema, parser, err := kubectl.LoadOpenAPISchema(config)
	if err != nil {
		return err
	}
	resources, forget, err := kubectl.ManageResources(config, schema)
	if err != nil {
		return err
	}
	defer forget()
	dry, forgetDry, err := kube.ManageServerSideDiffDryRuns(config, schema, untraced, silent, nil)
	if err != nil {
		return err
	}
	defer forgetDry()
	built := &engine{config, kubectl, resources, []diff.Option{
		diff.WithLogr(silent), diff.WithManager(manager), diff.WithGVKParser(parser),
		diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(dry)),
	}}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		wanted := &unstructured.Unstructured{}
		if err := wanted.UnmarshalJSON([]byte(line)); err != nil {
			return fmt.Errorf("an object is no JSON: %w", err)
		}
		if err := do(built, wanted); err != nil {
			return fmt.Errorf("%s %s: %w", wanted.GetKind(), wanted.GetName(), err)
		}
	}
	return nil
}
