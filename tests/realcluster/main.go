// Command realcluster is one binary for a small real control plane on loopback: etcd, kube-apiserver, kube-controller-manager,
// and a kubelet of ours that plays pods. Besides it checks metrics. README.md tells how to use it.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/controller/job"
)

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	switch os.Args[1] {
	case "run":
		exitWith(run(os.Args[2:]))
	case "kubelet":
		exitWith(playPodsOf(os.Args[2:]))
	case "check-metrics":
		exitWith(checkMetrics(os.Stdin))
	case "kube-apiserver":
		endWithParent()
		command := app.NewAPIServerCommand()
		command.SetArgs(os.Args[2:])
		os.Exit(cli.Run(command))
	case "kube-controller-manager":
		endWithParent()
		if text := os.Getenv("REALCLUSTER_POD_BACKOFF"); text != "" {
			backOff, err := time.ParseDuration(text)
			if err != nil {
				exitWith(err)
			}
			job.DefaultJobPodFailureBackOff = backOff
		}
		command := controllers.NewControllerManagerCommand()
		command.SetArgs(os.Args[2:])
		os.Exit(cli.Run(command))
	default:
		usage()
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: realcluster run [flags] | realcluster kubelet -kubeconfig FILE [flags] | realcluster check-metrics < FILE")
	os.Exit(2)
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "realcluster:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// endWithParent ends this process when its parent has gone: standard input is a pipe that only the parent holds open.
func endWithParent() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
}
