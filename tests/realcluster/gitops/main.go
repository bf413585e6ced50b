// What tools of a rollout say of an object: the engine of Argo CD with its scripts, kstatus of cli-utils, the health expressions of Flux, and kubectl itself.
//
//	gitops                        reads questions on standard input, one line of JSON each, and answers each with a line
//	gitops script ZIP NAME        prints the file of a module's zip whose path ends with NAME
//	gitops kubectl ARGUMENT ...   is kubectl
//	gitops sync KUBECONFIG client|server
//	                              applies the objects on standard input, a line of JSON each, as the engine of Argo CD does
//	gitops compare KUBECONFIG     prints a line for each object: what the engine expects to change in it
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/cmd"
)

// A question is an object, as the API server has it, and what is to be read in it. What is empty is not asked.
type question struct {
	Object  map[string]any    `json:"object"`
	Scripts map[string]string `json:"scripts"`
	Flux    json.RawMessage   `json:"flux"`
}

// An answer has the words of the tools: those of the scripts by their names.
type answer struct {
	Scripts map[string]health `json:"scripts"`
	Kstatus string            `json:"kstatus"`
	Flux    string            `json:"flux,omitempty"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 0:
		return answerAll()
	case arguments[0] == "kubectl":
		command := cmd.NewDefaultKubectlCommand()
		command.SetArgs(arguments[1:])
		return command.Execute()
	case arguments[0] == "script" && len(arguments) == 3:
		return printFileOf(arguments[1], arguments[2])
	case arguments[0] == "sync" && len(arguments) == 3:
		return syncAll(arguments[1], arguments[2] == "server")
	case arguments[0] == "compare" && len(arguments) == 2:
		return compareAll(arguments[1])
	default:
		return errors.New("usage: see the head of main.go")
	}
}

func answerAll() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var asked question
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			return fmt.Errorf("a question is no JSON: %w", err)
		}
		told, err := answerTo(asked)
		if err != nil {
			return err
		}
		if err := out.Encode(told); err != nil {
			return err
		}
	}
	return in.Err()
}

func answerTo(asked question) (answer, error) {
	told := answer{Scripts: map[string]health{}}
	text, err := json.Marshal(asked.Object)
	if err != nil {
		return told, err
	}
	// Whole numbers become integers here, as in the clients of Go.
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		return told, err
	}
	for name, script := range asked.Scripts {
		if told.Scripts[name], err = engineHealthOf(object, script); err != nil {
			return told, fmt.Errorf("script %s: %w", name, err)
		}
	}
	if told.Kstatus, err = kstatusOf(object); err != nil {
		return told, err
	}
	if asked.Flux != nil {
		told.Flux, err = fluxOf(object, asked.Flux)
	}
	return told, err
}
