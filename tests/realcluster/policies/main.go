// Command policies enforces the NetworkPolicies of a cluster on one machine, with the engine of kube-network-policies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

// queue is the number of the kernel's queue in which the first packet of a connection waits for the engine.
const queue = 100

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

func run() error {
	kubeconfig := flag.String("kubeconfig", "", "the cluster")
	node := flag.String("node", "", "name of the node")
	flag.Parse()
	if *kubeconfig == "" || *node == "" {
		return errors.New("-kubeconfig and -node are needed")
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	// Without node and admin policies; the engine wants neither of their informers then.
	factory := informers.NewSharedInformerFactory(client, 0)
	engine, err := networkpolicy.NewController(
		client, factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Namespaces(), factory.Core().V1().Pods(),
		nil, nil, nil, nil, networkpolicy.Config{QueueID: queue, NodeName: *node},
	)
	if err != nil {
		return err
	}
	if err := queueConnections(); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	return engine.Run(ctx)
}

// queueConnections hands each new connection that passes through the machine to the engine, and lets none pass while the engine does not
// answer. The engine writes such rules itself, as nftables expressions of a kind (NFT_QUEUE) that many kernels are built without; a
// connection that both rules queue is judged twice, alike. Addresses of Services are translated to those of pods before.
func queueConnections() error {
	rule := []string{
		"--wait", "--table", "mangle", "--append", "FORWARD", "--match", "conntrack", "--ctstate", "NEW",
		"--jump", "NFQUEUE", "--queue-num", strconv.Itoa(queue),
	}
	if output, err := exec.Command("iptables", rule...).CombinedOutput(); err != nil {
		return fmt.Errorf("iptables: %w: %s", err, output)
	}
	return nil
}
