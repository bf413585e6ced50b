package main

import (
	"context"
	"encoding/json"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func kstatusOf(object *unstructured.Unstructured) (string, error) {
	result, err := status.Compute(object)
	if err != nil {
		return "", err
	}
	return string(result.Status), nil
}

// FluxOf is what Flux waits by: `spec.healthCheckExprs` of a Kustomization, with the reader of its controllers.
func fluxOf(object *unstructured.Unstructured, given json.RawMessage) (string, error) {
	var expressions []kustomize.CustomHealthCheck
	if err := json.Unmarshal(given, &expressions); err != nil {
		return "", err
	}
	readerOf, err := cel.NewStatusReader(expressions)
	if err != nil {
		return "", err
	}
	read, err := readerOf(nil).ReadStatusForObject(context.Background(), nil, object)
	if err != nil {
		return "", err
	}
	return string(read.Status), nil
}
