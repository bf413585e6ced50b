// Command kubenode is what a machine of a cluster runs besides containerd: kubelet, kube-proxy, kube-scheduler, and the names of services.
// `kubenode machine` is the first process of a machine; tests/realnode/README.md tells how it is started.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	programs := map[string]func() *cobra.Command{
		"kubelet":        func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kube-proxy":     proxy.NewProxyCommand,
		"kube-scheduler": func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	if len(os.Args) < 2 {
		usage()
	}
	arguments := os.Args[2:]
	switch name := os.Args[1]; name {
	case "machine":
		exitWith(runMachine(arguments))
	case "names":
		exitWith(serveNames(arguments))
	default:
		program, known := programs[name]
		if !known {
			usage()
		}
		command := program()
		command.SetArgs(arguments)
		os.Exit(cli.Run(command))
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: kubenode machine [flags] | names [flags] | kubelet | kube-proxy | kube-scheduler [flags]")
	os.Exit(2)
}

func exitWith(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubenode:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
